import { describe, expect, test } from '@jest/globals';
import {
  expired,
  fileName,
  lastPart,
  parseFileName,
  parseRetention,
} from '../../../lib/logging/file-names.ts';

describe('names of log files', () => {
  test('carry type, UTC date and part [S2.1-log-files, C2-log-parts]', () => {
    expect(fileName({ type: 'aiLink', day: '2026-03-04', part: 0 })).toBe('app-aiLink-2026-03-04.log');
    expect(fileName({ type: 'access', day: '2026-03-04', part: 12 })).toBe('app-access-2026-03-04.12.log');
  });

  test.each([
    'app-access-2026-03-04.log.gz',
    'app-access-2026-03-04.0.log',
    'app-access-2026-03-04.x.log',
    'app-access-2026-13-04.log',
    'app-access-2026-02-30.log',
    'app-other-2026-03-04.log',
    'app-access-2026-03-04.log\n',
    'xapp-access-2026-03-04.log',
    'app-access-20260304.log',
  ])('%j is not ours', (name) => {
    expect(parseFileName(name)).toBeUndefined();
    expect(expired([name], { files: 1 }, '2030-01-01')).toEqual([]);
    expect(expired([name], { days: 1 }, '2030-01-01')).toEqual([]);
  });

  test('go on with the last part of the day, by number and not by text', () => {
    const names = [
      'app-access-2026-03-04.log',
      'app-access-2026-03-04.9.log',
      'app-access-2026-03-04.10.log',
    ];
    expect(lastPart(names, 'access', '2026-03-04')).toBe(10);
    expect(lastPart(names, 'error', '2026-03-04')).toBe(0);
  });
});

describe('retention', () => {
  const days = ['2026-02-18', '2026-02-17', '2026-02-16', '2026-03-04', '2025-12-31'];

  test('by days lets go of files whose every record is older [S2.1-log-max-files]', () => {
    const names = days.map((day) => fileName({ type: 'error', day, part: 1 }));
    expect(expired(names, parseRetention('14d'), '2026-03-04')).toEqual([
      'app-error-2026-02-17.1.log',
      'app-error-2026-02-16.1.log',
      'app-error-2025-12-31.1.log',
    ]);
  });

  test('by number keeps the newest of each type [S2.1-log-max-files]', () => {
    const names = [
      'app-error-2026-03-03.log',
      'app-error-2026-03-04.log',
      'app-error-2026-03-04.2.log',
      'app-error-2026-03-04.10.log',
      'app-access-2020-01-01.log',
    ];
    expect(expired(names, parseRetention('2'), '2026-03-04')).toEqual([
      'app-error-2026-03-04.log',
      'app-error-2026-03-03.log',
    ]);
  });

  test('never lets go of the file being written', () => {
    expect(expired(['app-error-2026-03-04.log'], parseRetention('0'), '2026-03-04')).toEqual([]);
    expect(expired(['app-error-2026-03-04.log'], parseRetention('0d'), '2026-03-04')).toEqual([]);
  });
});
