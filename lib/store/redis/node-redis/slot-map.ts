/** Parses the reply to `CLUSTER SLOTS` of a node at `host`: the address of the master of each slot. */
export function readSlotMap(reply: unknown, host: string): string[] {
  const owners: string[] = [];
  for (const range of list(reply)) {
    const [first, last, master] = list(range);
    const [masterHost, port] = list(master);
    // A node that does not know its own name yet sends an empty one.
    const address = `${typeof masterHost === 'string' && masterHost !== '' ? masterHost : host}:${Number(port)}`;
    for (let slot = Number(first); slot <= Number(last); slot++) owners[slot] = address;
  }
  if (owners.length === 0) throw new Error('The node serves no slots, and knows of none that does.');
  return owners;
}

function list(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new Error('The node did not answer CLUSTER SLOTS with ranges of slots.');
  return reply;
}
