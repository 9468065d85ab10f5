import {
  fitting,
  hadBefore,
  isFrom,
  permitsEach,
  permitsMark,
  turnAfter,
  wholeTurn,
} from '../../../lib/store/turn-name.js';

describe('The name of a turn', () => {
  it.each([1, 2, 10, 125])('tells that it wants %i permits for each hold', (permits) => {
    expect(permitsEach(`s${permitsMark(permits)}17`)).toBe(permits);
  });

  it('grants whole holds, as many as fit', () => {
    const turn = `s${permitsMark(3)}17`;

    expect([2, 3, 8, 9, 20].map((room) => fitting(turn, 3, room))).toEqual([0, 1, 2, 3, 3]);
    expect(fitting('s17', 9, 8)).toBe(8);
  });

  it('counts the holds before each of its parts', () => {
    const [second, third] = [turnAfter('s17', 2), turnAfter(turnAfter('s17', 2), 3)];

    expect(['s17', second, third].map(hadBefore)).toEqual([0, 2, 5]);
    expect([second, third].map(wholeTurn)).toEqual(['s17', 's17']);
    expect(['s17', second, third].map((part) => isFrom(part, second))).toEqual([false, true, true]);
    expect(isFrom(turnAfter('s18', 2), second)).toBe(false);
  });
});
