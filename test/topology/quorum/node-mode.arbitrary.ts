import * as fc from 'fast-check';
import type { NodeMode } from './stepped-node.js';

/** How a node behaves during one step; mostly well. */
export const nodeMode = fc.oneof(
  { weight: 6, arbitrary: fc.constant<NodeMode>('up') },
  { weight: 2, arbitrary: fc.constant<NodeMode>('down') },
  { weight: 1, arbitrary: fc.constant<NodeMode>('mute') },
  { weight: 1, arbitrary: fc.constant<NodeMode>('slow') },
);
