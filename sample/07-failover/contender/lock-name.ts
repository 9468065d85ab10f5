/** What all contenders want. */
export const NAME = 'account';
