/**
 * The placeholders of a template, without their angle brackets: `'0.sku' | '1'` of `'a:<0.sku>/<1>'`.
 * As in the parser, `<<` is a literal `<`. A `<` that is never closed stays in front of what follows it.
 */
export type Placeholders<T extends string, Found extends string = never> = T extends `${string}<${infer Rest}`
  ? Rest extends `<${infer Tail}`
    ? Placeholders<Tail, Found>
    : Rest extends `${infer Path}>${infer Tail}`
      ? Placeholders<Tail, Found | Path>
      : Found | `<${Rest}`
  : Found;

/** The steps of a placeholder, `[]` being one of its own: `['0', 'items', '[]', 'sku']` of `'0.items[].sku'`. */
export type Steps<Path extends string> = Path extends `${infer Piece}.${infer Rest}`
  ? [...PieceSteps<Piece>, ...Steps<Rest>]
  : PieceSteps<Path>;

type PieceSteps<Piece extends string> = Piece extends `${infer Name}[]`
  ? [...PieceSteps<Name>, '[]']
  : [Piece];
