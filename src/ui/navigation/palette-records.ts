/** The records that the command palette can open, by name and by id. Pure. */
import { resourceNamed, resourceOfId, resourceOfKind, resources, trailTo } from '../../resources/catalogue.ts';
import { listPlace, type Resource } from '../../resources/define.ts';
import type { Place } from '../../resources/place.ts';
import { endOfId } from '../../text/apart.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { type PaletteEntry, rankEntries } from './palette.ts';

/** A resource that was seen on this service. */
export interface KnownRecord {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  /** Distinguishes it from others with the same kind and label. */
  readonly apart?: string | undefined;
}

type OpenTrail = (trail: readonly Place[]) => void;

interface PaletteSources {
  /** Views, commands and profiles. */
  readonly entries: readonly PaletteEntry[];
  /** Resources seen recently on this service. */
  readonly seen: readonly KnownRecord[];
  /** Resources ever seen with this id or name, ignoring case. */
  readonly named: (text: string) => readonly KnownRecord[];
  /** Ids of the recently used entries. */
  readonly recent: readonly string[];
  /** Opens the last place in a trail. */
  readonly open: OpenTrail;
}

/** The name or id in a typed text: without the kind before it, as in `run words`. */
export function soughtName(typed: string): string {
  const [first = '', ...rest] = typed.trim().split(/\s+/);
  return rest.length > 0 && resourceNamed(first) ? rest.join(' ') : typed.trim();
}

/** Marks entries for ids that only the service might know. */
const unknown = 'unknown.';

/** Whether a command or a known record among the entries contains each word of the text. */
export function isNamed(text: string, entries: readonly PaletteEntry[]): boolean {
  const wanted = text.toLowerCase().split(/\s+/);
  return entries.some(({ id, title, words }) => {
    const names = [title, ...words].join('\n').toLowerCase();
    return !id.startsWith(unknown) && wanted.every(word => names.includes(word));
  });
}

/** Trajectories far outnumber everything else, and many share a name. */
export const manyKind = 'trajectory';
/** Number of trajectories to offer, unless the text names them. */
const maxOfMany = 4;
/** Number of known ids to offer for a prefix. */
const maxBeginnings = 8;
/** A shorter prefix would match too many ids. */
const shortestBeginning = 3;
/** A UUID, a number, `r9`…: ids from services that use no prefixes. A word with only letters is a name. */
const idLike = /^(?=.*\d)[\w.:-]{2,128}$/;

/**
 * All entries for a query, best first: the record with exactly this id or name; views, commands and known names; known
 * ids with this prefix; and ids that only the service might know.
 */
export function paletteEntries(
  typed: string,
  { entries, seen: recentlySeen, named: seenNamed, recent, open }: PaletteSources,
): readonly PaletteEntry[] {
  const words = typed.trim().split(/\s+/);
  const [first = '', word = first] = words;
  // Without a query, names would only be in the way.
  if (first === '') return rankEntries(typed, entries, recent);
  const named = words.length === 2 ? resourceNamed(first) : undefined;
  const alike = seenNamed(named ? word : typed.trim());
  // Matches in the same letter case come first.
  const isExact = ({ id, label }: KnownRecord): boolean => id === word || label === typed.trim();
  const seen = uniqueRecords([...alike.filter(isExact), ...alike, ...recentlySeen]);
  const candidates = named ? seen.filter(({ kind }) => kind === named.kind) : seen;
  const isId = ({ id }: KnownRecord): boolean => id.toLowerCase() === word.toLowerCase();
  const ids = words.length > 1 && !named ? [] : candidates.filter(isId);
  const byId = ids.flatMap(known => knownEntry(known, open).map(entry => ({ ...entry, words: [known.id] })));
  const ranked = [
    ...(named && words.length === 2 ? filteredEntries(named, first, word, open) : []),
    ...withFew(rankEntries(typed, [...entries, ...namedEntries(seen, open), ...byId], recent), named),
  ];
  if (words.length > 1 && !named) return ranked;
  const known = candidates.filter(({ id, label }) => id === word || (named && label === word));
  const exact = known.flatMap(each => knownEntry(each, open));
  const others = exact.length > 0 ? [] : [...beginnings(word, candidates, open), ...unknownEntries(word, named, open)];
  return [...new Map([...exact, ...ranked, ...others].map(entry => [entry.id, entry])).values()];
}

const uniqueRecords = (records: readonly KnownRecord[]): KnownRecord[] => [
  ...new Map(records.map(record => [`${record.kind} ${record.id}`, record])).values(),
];

/** Leaves out all but the best trajectories, unless the text names them. */
function withFew(entries: readonly PaletteEntry[], named: Resource | undefined): readonly PaletteEntry[] {
  if (named?.kind === manyKind) return entries;
  const beyond = new Set(entries.filter(({ rank = 0 }) => rank > 0).slice(maxOfMany));
  return entries.filter(entry => !beyond.has(entry));
}

/** Resources seen on this service, by name. */
function namedEntries(seen: readonly KnownRecord[], open: OpenTrail): PaletteEntry[] {
  return seen.flatMap(({ kind, id, label, apart }) => {
    const resource = resourceOfKind(kind);
    const trail = resource && trailTo(resource, id, label);
    if (!trail || label === id) return [];
    const [, one] = resource.names;
    const rank = kind === manyKind ? 1 : 0;
    const title = sanitiseLine(label);
    const end = kind === manyKind ? endOfId(id) : apart;
    const note = sanitiseLine([one, end].filter(Boolean).join(', '));
    return [{ id: `name.${kind}.${id}`, title, words: [one], note, run: () => open(trail), rank }];
  });
}

/** The list of a resource with a status: `runs failed`. */
function filteredEntries(resource: Resource, name: string, status: string, open: OpenTrail): PaletteEntry[] {
  const column = resource.columns.find(each => each.status);
  if (name !== resource.names[0] || !column?.known?.includes(status)) return [];
  const filter = `${column.id}:${status}`;
  const title = `${name} /${filter}`;
  return [{ id: `list.${title}`, title, words: [], note: '', run: () => open([{ ...listPlace(resource), filter }]) }];
}

function knownEntry({ kind, id, label }: KnownRecord, open: OpenTrail): PaletteEntry[] {
  const resource = resourceOfKind(kind);
  const trail = resource && trailTo(resource, id, label);
  if (!trail) return [];
  return [
    {
      id: `id.${kind}.${id}`,
      title: `open ${sanitiseLine(id)}`,
      words: [],
      note: resource.names[1],
      run: () => open(trail),
    },
  ];
}

/** Known ids that start with the word. */
function beginnings(word: string, seen: readonly KnownRecord[], open: OpenTrail): PaletteEntry[] {
  if (word.length < shortestBeginning) return [];
  const wanted = word.toLowerCase();
  return seen
    .filter(({ id }) => id.toLowerCase().startsWith(wanted))
    .slice(0, maxBeginnings)
    .flatMap(ref => knownEntry(ref, open));
}

/**
 * Entries for an id never seen before, as the named kind or as any kind. The kind whose ids look like this comes first,
 * but another service may use other forms.
 */
function unknownEntries(id: string, named: Resource | undefined, open: OpenTrail): PaletteEntry[] {
  const ofForm = named ?? resourceOfId(id);
  if (!ofForm && !idLike.test(id)) return [];
  const others = named ? [] : resources.filter(resource => resource !== ofForm);
  return [...(ofForm ? [ofForm] : []), ...others].flatMap(resource => {
    const trail = trailTo(resource, id);
    if (!trail) return [];
    const [many, one] = resource.names;
    const title = resource === ofForm ? `open ${id}` : `${one} ${id}`;
    const note = resource === ofForm ? one : 'not seen yet';
    return [{ id: `${unknown}${many}.${id}`, title, words: [], note, run: () => open(trail) }];
  });
}
