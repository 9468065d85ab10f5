/** No majority of the nodes could be asked; `errors` says for each node in turn what came of it. */
export class NoMajorityError extends AggregateError {
  override readonly name = 'NoMajorityError';
  declare readonly errors: Error[];

  constructor(errors: readonly Error[], majority: number) {
    const answers = errors.map(({ message }) => message).join('; ');
    super(errors, `A majority of ${majority} of ${errors.length} Redis nodes could not be asked: ${answers}`);
  }
}
