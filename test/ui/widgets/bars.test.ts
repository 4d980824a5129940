import { describe, expect, it } from 'vitest';
import { histogram } from '../../../src/base/statistics.ts';
import { statusMeaning } from '../../../src/contract/status.ts';
import { sparkline } from '../../../src/text/sparkline.ts';
import { bar, histogramLines, progressBar } from '../../../src/ui/widgets/bars.ts';
import { statusText } from '../../../src/ui/widgets/status.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

const theme = createTheme('plain');
const ascii = createTheme('plain', true);

describe('bars', () => {
  it('fill by eighths of a cell, and stay within their width', () => {
    expect(bar(0.5, 4, theme)).toBe('██  ');
    expect(bar(0.54, 4, theme)).toBe('██▏ ');
    expect(bar(7, 4, theme)).toBe('████');
    expect(bar(-1, 4, theme)).toBe('    ');
  });

  it('show progress on a track, in ASCII too', () => {
    expect(progressBar(0.25, 8, theme)).toBe('██░░░░░░');
    expect(progressBar(0.25, 8, ascii)).toBe('##......');
  });

  it('draw a distribution with its ranges and counts', () => {
    const lines = histogramLines(histogram([0, 0.1, 0.2, 0.3, 1], 2), 30, String, theme);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^\[0, 0\.5\) █+ +4$/);
    expect(lines[1]).toMatch(/^\[0\.5, 1\] █+[▏▎▍▌▋▊▉]? +1$/);
  });

  it('draw values as levels', () => {
    expect(sparkline([0, 1, 2], 8)).toBe('▁▅█');
    expect(sparkline([0, 0, 5, 9], 2)).toBe('▁▆');
    expect(sparkline([0, undefined, undefined, undefined, 9, 9], 3)).toBe('▁ █');
    expect(sparkline([1, 2], 2, theme.glyphs.levels, [0, 4])).toBe('▃▅');
    expect(sparkline([-1, 0, 1], 8)).toBe('▁▅█');
    // A missing value is a gap (W2).
    expect(sparkline([0, undefined, 2], 8)).toBe('▁ █');
  });

  it('draw a flat curve flat, at any value, and noise no larger than it is', () => {
    expect(sparkline([1, 1, 1], 8)).toBe('███');
    expect(sparkline([0, 0], 8)).toBe('▁▁');
    expect(sparkline([1, 0.999, 1, 0.998], 8)).toBe('████');
    expect(sparkline([5, 5], 8)).toBe('██');
  });
});

describe('statuses', () => {
  it('are recognised in either case, and shown unchanged if unknown', () => {
    expect([statusMeaning('DEPLOYED'), statusMeaning('cancel_signaled'), statusMeaning('hibernating')]).toEqual([
      'success',
      'stopping',
      'unknown',
    ]);
    expect(statusText('hibernating', theme)).toBe('• hibernating');
  });
});
