/** Jain's index of how evenly something was shared: 1 where all got the same, 1/n where one got all. */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return squares === 0 ? NaN : (sum * sum) / (shares.length * squares);
}
