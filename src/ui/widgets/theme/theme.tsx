/**
 * Styles by meaning. The default theme uses the terminal's own sixteen colours, so it follows the user's palette.
 * Meaning is never shown by colour alone.
 */
import { createContext, type ReactNode, useContext } from 'react';
import { own } from '../../../base/own-property.ts';
import { hasFewColours, isAsciiOnly, wantsColour } from '../../../text/terminal.ts';
import { asciiGlyphs, type Glyphs, unicodeGlyphs } from './glyphs.ts';

/** Styles text, which must not contain escape sequences other than styles. */
export type Style = (text: string) => string;

/** SGR parameters (ECMA-48, 8.3.117); empty for a plain appearance. */
type Sgr = string;

const styleNames = [
  'title',
  'header',
  'muted',
  'accent',
  'success',
  'warning',
  'danger',
  'info',
  'selected',
  'match',
  'border',
  'key',
  'caret',
  'strong',
  'emphasis',
  'code',
  'link',
  'user',
  'assistant',
  'system',
  'tool',
] as const;
export type StyleName = (typeof styleNames)[number];
export type Styles = Readonly<Record<StyleName, Style>>;

/** The style for a kind of line; undefined for plain. */
export function lookOf<Kind extends string>(
  looks: Readonly<Partial<Record<Kind, StyleName>>>,
  kind: Kind,
  styles: Styles,
): Style | undefined {
  const name = own<StyleName | undefined>(looks, kind);
  return name && styles[name];
}

/** Colours for curves and series, in the order they are used. */
type Series = readonly Sgr[];

interface Palette {
  readonly styles: Readonly<Record<StyleName, Sgr>>;
  readonly series: Series;
}

const terminal: Palette = {
  styles: {
    title: '1',
    header: '1',
    muted: '2',
    accent: '36',
    success: '32',
    warning: '33',
    danger: '31',
    info: '34',
    selected: '1;36',
    match: '1;4',
    border: '2',
    key: '36',
    caret: '7',
    strong: '1',
    emphasis: '3',
    code: '33',
    link: '4',
    user: '1;34',
    assistant: '1;32',
    system: '1;35',
    tool: '1;33',
  },
  series: ['36', '33', '35', '32', '34', '31'],
};

const palettes = {
  terminal,
  dark: {
    styles: {
      ...terminal.styles,
      muted: '38;5;245',
      accent: '38;5;81',
      success: '38;5;114',
      warning: '38;5;221',
      danger: '38;5;203',
      info: '38;5;75',
      selected: '1;38;5;81',
      border: '38;5;240',
      key: '38;5;81',
      code: '38;5;222',
    },
    series: ['38;5;81', '38;5;221', '38;5;176', '38;5;114', '38;5;75', '38;5;203'],
  },
  light: {
    styles: {
      ...terminal.styles,
      muted: '38;5;242',
      accent: '38;5;25',
      success: '38;5;28',
      warning: '38;5;130',
      danger: '38;5;160',
      info: '38;5;26',
      selected: '1;38;5;25',
      border: '38;5;250',
      key: '38;5;25',
      code: '38;5;94',
    },
    series: ['38;5;25', '38;5;130', '38;5;90', '38;5;28', '38;5;26', '38;5;160'],
  },
  'high-contrast': {
    styles: {
      ...terminal.styles,
      muted: '',
      accent: '1;96',
      success: '1;92',
      warning: '1;93',
      danger: '1;91',
      info: '1;94',
      selected: '1;7',
      match: '7',
      border: '97',
      key: '1;96',
      code: '93',
    },
    series: ['1;96', '1;93', '1;95', '1;92', '1;94', '1;91'],
  },
  /** No colours, but bold, underline and inverse, which `NO_COLOR` allows. */
  plain: {
    styles: {
      ...(Object.fromEntries(styleNames.map(name => [name, ''])) as Record<StyleName, Sgr>),
      title: '1',
      header: '1',
      selected: '1',
      match: '1;4',
      caret: '7',
      strong: '1',
      link: '4',
      user: '1',
      assistant: '1',
      system: '1',
      tool: '1',
    },
    series: [''],
  },
} as const satisfies Record<string, Palette>;

type ThemeName = keyof typeof palettes;

export interface Theme {
  readonly name: ThemeName;
  readonly styles: Styles;
  readonly glyphs: Glyphs;
  /** The style for a chart's n-th series. */
  readonly series: (index: number) => Style;
  /** The style for the n-th series' range and unsmoothed values, which are behind its curve. */
  readonly faint: (index: number) => Style;
}

function styleOf(sgr: Sgr): Style {
  if (sgr === '') return text => text;
  return text => (text === '' ? '' : `\u001b[${sgr}m${text}\u001b[0m`);
}

/** Creates a theme. ASCII glyphs are for terminals that lack a Unicode font or encoding. */
export function createTheme(name: ThemeName = 'terminal', ascii = false): Theme {
  const palette: Palette = palettes[name];
  const styles = Object.fromEntries(styleNames.map(style => [style, styleOf(palette.styles[style])])) as Styles;
  const series = palette.series.map(styleOf);
  const faint = palette.series.map(sgr => styleOf(sgr === '' ? palette.styles.muted : `2;${sgr}`));
  return {
    name,
    styles,
    glyphs: ascii ? asciiGlyphs : unicodeGlyphs,
    series: index => series[index % series.length] ?? styles.accent,
    faint: index => faint[index % faint.length] ?? styles.muted,
  };
}

/**
 * The theme for an environment, which decides on colours if no theme is chosen. A locale other than UTF-8 selects ASCII
 * glyphs. On a terminal with only sixteen colours, the dark and light themes use the terminal's own colours.
 */
export function themeFor(
  wanted: ThemeName | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Theme {
  const ascii = isAsciiOnly(environment);
  const name = wanted ?? (wantsColour(environment) === false ? 'plain' : 'terminal');
  const needsMore = name === 'dark' || name === 'light';
  return createTheme(needsMore && hasFewColours(environment) ? 'terminal' : name, ascii);
}

const ThemeContext = createContext<Theme>(createTheme());

export function ThemeProvider({ theme, children }: { theme: Theme; children: ReactNode }) {
  return <ThemeContext value={theme}>{children}</ThemeContext>;
}

export function useTheme(): Theme {
  return useContext(ThemeContext);
}
