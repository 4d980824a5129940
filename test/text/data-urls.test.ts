import { expect, it } from 'vitest';
import { withoutData, withoutDataStream } from '../../src/text/data-urls.ts';
import fc from '../../tools/rig/property.ts';

const image = `data:image/png;base64,${'iVBORw0KGgo'.repeat(40)}=`;
const parts = ['seen ', image, `data:text/plain;charset=utf-8;base64,${'QUJD'.repeat(30)}`, 'and', 'd', 'data:', ' '];
const text = fc.array(fc.constantFrom(...parts, 'data:a,b', 'data:;base64,QUJD', '"', 'data:a;b/c;base64,', '\n'));

it('names data alike, whole or in any pieces', () => {
  fc.assert(
    fc.property(text, fc.infiniteStream(fc.integer({ min: 1, max: 90 })), (words, sizes) => {
      const whole = words.join(' ');
      const shortened = withoutDataStream();
      let [rest, out] = [whole, ''];
      while (rest !== '') {
        const { value: size } = sizes.next();
        out += shortened(rest.slice(0, size));
        rest = rest.slice(size);
      }
      expect(out + shortened()).toBe(withoutData(whole));
    }),
  );
});

it('shows text as it arrives', () => {
  const shortened = withoutDataStream();
  expect(['an', ' d', 'ay', ` ${image.slice(0, 90)}`, image.slice(90), '. So'].map(piece => shortened(piece))).toEqual([
    ...['an', ' ', 'day', ' ', '', '[image png 330 B]. So'],
  ]);
});
