const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The slot of a key in a Redis Cluster: CRC16 of its hash tag, or of the whole key without one. */
export function slotOf(key: string): number {
  const begin = key.indexOf('{') + 1;
  const end = begin === 0 ? -1 : key.indexOf('}', begin);
  let crc = 0;
  for (const byte of Buffer.from(end > begin ? key.slice(begin, end) : key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? POLYNOMIAL : 0)) & 0xffff;
  }
  return crc % SLOTS;
}
