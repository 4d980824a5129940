/** The records that the command palette opens, by name and by id. Pure. */
import { resourceNamed, resourceOfId, resourceOfKind, resources, trailTo } from '../../resources/catalogue.ts';
import type { Resource } from '../../resources/define.ts';
import type { Place } from '../../resources/place.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { type PaletteEntry, rankEntries } from './palette.ts';

/** A resource that was seen on this service. */
interface KnownRecord {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
}

type OpenTrail = (trail: readonly Place[]) => void;

export interface PaletteSources {
  /** Views, commands and profiles. */
  readonly entries: readonly PaletteEntry[];
  /** Resources seen on this service. */
  readonly seen: readonly KnownRecord[];
  /** Ids of the entries used last. */
  readonly recent: readonly string[];
  /** Opens the last place of a trail. */
  readonly open: OpenTrail;
}

/** Number of known ids that are offered for their beginning. */
const mostBeginnings = 8;
/** A shorter beginning would match too many ids. */
const shortestBeginning = 3;
/** A UUID, a number, `r9`…: ids of services that use no prefixes. Words of letters only are names. */
const idLike = /^(?=.*\d)[\w.:-]{2,128}$/;

/**
 * All entries for what is typed, best first: the record with exactly this id or name, then views, commands and known
 * names, then known ids that begin with it, and last what only the service can know.
 */
export function paletteEntries(
  typed: string,
  { entries, seen, recent, open }: PaletteSources,
): readonly PaletteEntry[] {
  const words = typed.trim().split(/\s+/);
  const [first = '', word = first] = words;
  // Without a query names would only be in the way.
  if (first === '') return rankEntries(typed, entries, recent);
  const named = words.length === 2 ? resourceNamed(first) : undefined;
  const ranked = rankEntries(typed, [...entries, ...namedEntries(seen, open)], recent);
  if (words.length > 1 && !named) return ranked;
  const candidates = named ? seen.filter(({ kind }) => kind === named.kind) : seen;
  const known = candidates.find(({ id, label }) => id === word || (named && label === word));
  const exact = known ? knownEntry(known, open) : [];
  if (exact.length > 0) return [...exact, ...ranked];
  return [...ranked, ...beginnings(word, candidates, open), ...unknownEntries(word, named, open)];
}

/** Resources seen on this service, by name. */
function namedEntries(seen: readonly KnownRecord[], open: OpenTrail): PaletteEntry[] {
  return seen.flatMap(({ kind, id, label }) => {
    const resource = resourceOfKind(kind);
    const trail = resource && trailTo(resource, id, label);
    if (!trail || label === id) return [];
    const [, one] = resource.names;
    return [{ id: `name.${kind}.${id}`, title: sanitiseLine(label), words: [one], note: one, run: () => open(trail) }];
  });
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

/** Known ids that begin with the word. */
function beginnings(word: string, seen: readonly KnownRecord[], open: OpenTrail): PaletteEntry[] {
  if (word.length < shortestBeginning) return [];
  const wanted = word.toLowerCase();
  return seen
    .filter(({ id }) => id.toLowerCase().startsWith(wanted))
    .slice(0, mostBeginnings)
    .flatMap(ref => knownEntry(ref, open));
}

/**
 * Ids that were never seen. The kind is the one that is named or whose ids look like it; an id of no known form may be of
 * every kind.
 */
function unknownEntries(id: string, named: Resource | undefined, open: OpenTrail): PaletteEntry[] {
  const ofForm = named ?? resourceOfId(id);
  if (!ofForm && !idLike.test(id)) return [];
  return (ofForm ? [ofForm] : resources).flatMap(resource => {
    const trail = trailTo(resource, id);
    if (!trail) return [];
    const [many, one] = resource.names;
    const title = ofForm ? `open ${id}` : `${one} ${id}`;
    const note = ofForm ? one : 'with this id';
    return [{ id: `id.${many}.${id}`, title, words: [], note, run: () => open(trail) }];
  });
}
