import { type Static, Type } from '@sinclair/typebox';
import { SIZE_PATTERN } from '../size.ts';
import { filledSection, flag, oneOf, text } from './build.ts';

/** The six log types (spec §2.1). */
export const LOG_TYPES = ['access', 'error', 'aiLink', 'proxy', 'videohost', 'tools'] as const;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const logType = (description: string) =>
  filledSection(
    {
      enabled: flag('Write this type at all.', true),
      console: flag('Write it to the standard output.', true),
      file: flag('Write it to `logs/app-<type>-YYYY-MM-DD.log`.', false),
      level: oneOf('Lowest level written.', LOG_LEVELS, 'info'),
    },
    description,
  );

export const loggingSection = filledSection(
  {
    types: filledSection(
      {
        access: logType('Every request.'),
        error: logType('Failures.'),
        aiLink: logType('Calls to AI providers.'),
        proxy: logType('Proxied requests.'),
        videohost: logType('Video accounts and uploads.'),
        tools: logType('Tool invocations and tool servers.'),
      },
      'Switches a log type.',
    ),
    fileRotation: Type.Boolean({ default: true, description: 'Start a further part when a file is full.' }),
    maxFileSize: text('Size of one part, such as 10m.', {
      default: '10m',
      pattern: SIZE_PATTERN,
      expected: 'a size such as 10m',
    }),
    maxFiles: text('Retention: days such as 14d, or a number of files.', {
      default: '14d',
      pattern: '^[1-9]\\d{0,4}d?$',
      expected: 'days such as 14d, or a number of files',
    }),
  },
  'Log records.',
);

export type LoggingConfig = Static<typeof loggingSection>;
export type LogType = (typeof LOG_TYPES)[number];
export type LogLevel = (typeof LOG_LEVELS)[number];
