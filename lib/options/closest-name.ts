/** The candidate closest to a misspelt name; undefined if none is close enough for a suggestion. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return best?.candidate;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      const insertion = (next[j] ?? 0) + 1;
      const deletion = (row[j + 1] ?? 0) + 1;
      const replacement = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(insertion, deletion, replacement));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
