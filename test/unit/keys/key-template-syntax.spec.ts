import { LockConfigError } from '../../../lib/errors/lock.error.js';
import { parseKeyTemplate } from '../../../lib/keys/key-template.js';

describe('the syntax of a key template', () => {
  it.each([
    ['a number in braces', 'order:{0}', 7, '"{0}" is not a placeholder; write <0>, or use a'],
    [
      'a name in braces after "$"',
      'order:${id}',
      7,
      '"${id}" is not a placeholder; write <0> for the first argument, or <0.id> for a property of it, or',
    ],
    [
      'a name in braces',
      'order:{sku}:a',
      7,
      '"{sku}" is not a placeholder; write <0> for the first argument',
    ],
    [
      'a name after a colon',
      ':id',
      1,
      '":id" is not a placeholder; write <0> for the first argument, or <0.id>',
    ],
    ['a name after "/:"', 'orders/:id/pay', 8, '":id" is not a placeholder'],
    ['a name after "::"', 'order::id', 7, '":id" is not a placeholder'],
    ['the instance itself', 'a:<this>', 3, 'a property of the instance is expected'],
    ['the elements of the instance', 'a:<this[]>', 3, 'a property of the instance is expected'],
    ['the class of the instance', '<this.constructor.name>', 1, '"constructor" belongs to every object'],
    ['an unclosed placeholder', 'order:<0', 7, 'not closed by ">"'],
    ['a "<" at the end', 'order:<', 7, 'not closed by ">"'],
    ['an empty placeholder', 'order:<>', 7, 'number of an argument'],
    ['a name where the argument number belongs', 'order:<sku>', 7, 'number of an argument'],
    ['a path that begins with "."', '<.sku>', 1, 'number of an argument'],
    ['an array without an argument', '<[]>', 1, 'number of an argument'],
    ['a negative number', '<-1>', 1, 'number of an argument'],
    ['a number with leading zeros', '<00>', 1, 'number of an argument'],
    ['a space in a placeholder', '<0 >', 1, 'number of an argument'],
    ['a path that ends with "."', 'a:<0>:<0.>', 7, 'property name is expected after "."'],
    ['two dots', '<0..sku>', 1, 'property name is expected after "."'],
    ['brackets in place of a property', '<0.[]>', 1, 'property name is expected after "."'],
    ['an open bracket', '<0[>', 1, 'square brackets'],
    ['a closing bracket', '<0.items].sku>', 1, 'square brackets'],
    ['an index in brackets', '<0.items[3]>', 1, 'square brackets'],
    ['a name right after brackets', '<0.items[]sku>', 1, 'square brackets'],
    ['a space in a property name', '<0.first name>', 1, 'no spaces'],
    ['a placeholder inside a placeholder', '<0.a<1>', 1, 'is a ">" missing?'],
    ['the prototype', '<0.__proto__.x>', 1, '"__proto__" belongs to every object'],
    ['the constructor', '<0.constructor.name>', 1, '"constructor" belongs to every object'],
    ['an inherited method', '<0.toString>', 1, '"toString" belongs to every object'],
    ['the empty template', '', 1, 'is empty'],
    ['a leading "}"', '}<0>', 1, 'starts with "}"'],
    ['a control character', 'a\t<0>', 1, 'control character'],
    ['a lone surrogate', 'a\ud800<0>', 1, 'lone surrogate'],
    ['literals too long for any name', 'x'.repeat(512) + '<0>', 1, '513 bytes'],
    ['placeholders that touch', 'a:<0><1>', 6, 'after <0> another placeholder follows at once'],
    ['one placeholder twice without a separator', '<0><0>', 4, 'after <0> another placeholder'],
    ['a digit as the separator', '<0>0<1>', 4, 'after <0> only "0" follows'],
    ['hexadecimal letters as the separator', '<0>AF%<1>', 4, 'after <0> only "AF%" follows'],
    ['a bad separator after a good one', '<0>:<1>9<2>', 8, 'after <1> only "9" follows'],
    ['two arrays side by side', '<0[]>:<1[]>', 7, '<1[]> walks another array than <0[]>'],
    ['two arrays of one element', '<0[].a[]>:<0[].b[].c>', 11, '<0[].b[].c> walks another array'],
  ])('rejects %s, with the position and what is expected', (_, template, position, problem) => {
    const parse = (): unknown => parseKeyTemplate(template);
    expect(parse).toThrow(LockConfigError);
    expect(parse).toThrow(`Key template ${JSON.stringify(template)} at position ${position}: `);
    expect(parse).toThrow(problem);
  });

  it.each([
    ['nightly-report', [], 'nightly-report'],
    ['cron:nightly:report', ['x'], 'cron:nightly:report'],
    ['a{b', [], 'a{b'],
    ['{order}::<0>/:${x}', ['x'], '{order}::x/:${x}'],
    ['a<<b', [], 'a<b'],
    ['<<<0>', ['x'], '<x'],
    ['<<0>', [], '<0>'],
    ['a->b:<0>>', ['x'], 'a->b:x>'],
    ['<<<<', [], '<<'],
    ['<0>}', ['x'], 'x}'],
    ['Größe:<0>', ['x'], 'Größe:x'],
    ['<0.a-b>:<0.$c>:<0._>:<0.ä>', [{ 'a-b': 1, $c: 2, _: 3, ä: 4 }], '1:2:3:4'],
    ['<10>', Array.from({ length: 11 }, (_, i) => i), '10'],
    ['<0.1>', [['a', 'b']], 'b'],
  ])('reads %j', (template, args, name) => {
    expect(parseKeyTemplate(template).resolve(args, 'S.m')).toEqual([name]);
  });
});
