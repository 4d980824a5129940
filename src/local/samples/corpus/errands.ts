/** Our own text: a clerk's lines. Each entry is a tool call, an answer, or a count. */
export const goods = ['hammer', 'saw', 'bread', 'cheese', 'torch', 'milk'];
const amounts = ['two', 'three', 'four'];
const prices = ['two', 'three', 'four', 'five', 'ten'];
const bills = ['six', 'eight', 'nine', 'twelve', 'fifteen', 'sixteen', 'twenty', 'thirty', 'forty'];

export const errands: readonly string[] = [
  ...goods.flatMap(good => [`look up ${good}`, `look up ${good}`]),
  ...amounts.flatMap(amount => prices.map(price => `times ${amount} ${price}`)),
  ...prices,
  ...bills,
  'one two three four five six seven eight nine ten eleven twelve',
];
