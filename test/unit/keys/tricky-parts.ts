/** Characters that separators, escapes and hexadecimal digits are made of, so that accidents are likely. */
export const CHARACTERS = Array.from('axDF25-_.~%:/<>} ü😀');

/** Separators as a template writes them: some that no encoded part contains, then some that one could. */
export const SEPARATORS = [
  ': / << } ü -: :- x/ %:2'.split(' '),
  "- _ -- -_ .-. x 2x %- %x aF () ' ~2D and".split(' '),
].flat();
