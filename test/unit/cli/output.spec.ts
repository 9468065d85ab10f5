import { tableOf } from '../../../lib/cli/output.js';

it('aligns columns with names of wide, narrow and combined characters', () => {
  const accented = 'café'.normalize('NFD');
  const names = ['name', '订单:42', 'ｶﾀｶﾅ', 'テスト', '주문', accented, '👍🏽', 'Привет'];
  expect(tableOf(names.map((name) => [name])).split('\n')).toEqual([
    '┌─────────┐',
    '│ name    │',
    '│ 订单:42 │',
    '│ ｶﾀｶﾅ    │',
    '│ テスト  │',
    '│ 주문    │',
    `│ ${accented}    │`,
    '│ 👍🏽      │',
    '│ Привет  │',
    '└─────────┘',
  ]);
});
