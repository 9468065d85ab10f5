/** What an instance's place in a queue says: who waits, with which claim lease, wanting how many tokens. */
export interface Place {
  readonly instance: string;
  /** Milliseconds of the lease of a grant by hand-off. */
  readonly claim: number;
  readonly tokens: number;
}

/** The form in which stores keep a place. */
export function formatPlace({ instance, claim, tokens }: Place): string {
  return `${instance}|${Math.ceil(claim)}|${tokens}`;
}

export function parsePlace(place: string): Place {
  const [instance = place, claim, tokens] = place.split('|');
  return { instance, claim: Number(claim), tokens: Number(tokens) };
}
