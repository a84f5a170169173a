import type { HubError } from '../errors/hub-error.ts';
import { formError } from './video-errors.ts';

/** What a video is published as (spec §2.6, and the extras of docs/video.md). */
export interface VideoMetadata {
  title: string;
  description: string;
  tags: string[];
  categoryId: string;
  privacyStatus: PrivacyStatus;
  /** ISO 8601; the video is private until then. */
  publishAt?: string;
  madeForKids?: boolean;
  notifySubscribers?: boolean;
  /** BCP 47 */
  defaultLanguage?: string;
  playlistId?: string;
  /** BCP 47; language of the captions file. */
  captionsLanguage?: string;
}

const PRIVACY = ['public', 'unlisted', 'private'] as const;
export type PrivacyStatus = (typeof PRIVACY)[number];

/** Spec §2.6. */
const CATEGORIES: ReadonlySet<string> = new Set('1 2 10 15 17 19 20 22 23 24 25 26 27 28'.split(' '));
const DEFAULT_CATEGORY = '22';
const LONGEST_TITLE = 100;

/** Reads one text field into what it means, or says what is wrong with it. */
type Reader = (value: string) => Partial<VideoMetadata> | { fault: string };

const READERS: Readonly<Record<string, Reader>> = {
  title(value) {
    if (value.trim() === '') return { fault: 'title must not be empty' };
    // The platform counts characters, not code units.
    if ([...value].length > LONGEST_TITLE)
      return { fault: `title is longer than ${LONGEST_TITLE} characters` };
    return { title: value };
  },
  description: (value) => ({ description: value }),
  tags: (value) => ({
    tags: value
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  }),
  categoryId(value) {
    if (value === '') return {};
    return CATEGORIES.has(value)
      ? { categoryId: value }
      : { fault: `categoryId must be one of ${[...CATEGORIES].join(', ')}` };
  },
  privacyStatus(value) {
    if (value === '') return {};
    const privacyStatus = PRIVACY.find((known) => known === value);
    return privacyStatus
      ? { privacyStatus }
      : { fault: `privacyStatus must be one of ${PRIVACY.join(', ')}` };
  },
  publishAt(value) {
    if (value === '') return {};
    const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) ? Date.parse(value) : Number.NaN;
    return Number.isNaN(time)
      ? { fault: 'publishAt must be a time in ISO 8601, such as 2027-01-31T18:00:00Z' }
      : { publishAt: new Date(time).toISOString() };
  },
  madeForKids: (value) => readFlag('madeForKids', value),
  notifySubscribers: (value) => readFlag('notifySubscribers', value),
  defaultLanguage: (value) => readLanguage('defaultLanguage', value),
  captionsLanguage: (value) => readLanguage('captionsLanguage', value),
  playlistId(value) {
    if (value === '') return {};
    return /^[\w-]{1,100}$/.test(value)
      ? { playlistId: value }
      : { fault: 'playlistId is not the id of a playlist' };
  },
};

function readFlag(name: 'madeForKids' | 'notifySubscribers', value: string): ReturnType<Reader> {
  if (value === '') return {};
  return value === 'true' || value === 'false'
    ? { [name]: value === 'true' }
    : { fault: `${name} must be true or false` };
}

function readLanguage(name: 'defaultLanguage' | 'captionsLanguage', value: string): ReturnType<Reader> {
  if (value === '') return {};
  return /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(value)
    ? { [name]: value }
    : { fault: `${name} must be a language tag such as en or pt-BR` };
}

/** The text fields of one form, checked as they come. */
export interface MetadataForm {
  /** Takes a field. @throws HubError `invalid_request` naming it */
  add(name: string, value: string): void;
  /** What the fields so far say; undefined before there is a title. */
  current(): VideoMetadata | undefined;
  /** The metadata of the whole form. @throws HubError `invalid_request` naming what is missing or contradicts */
  complete(): VideoMetadata;
  /** Fields that mean nothing here: told to the caller, because one of them may be a misspelling. */
  readonly unknown: readonly string[];
}

export function createMetadataForm(target: string): MetadataForm {
  const seen = new Set<string>();
  const unknown: string[] = [];
  let given: Partial<VideoMetadata> = {};

  function current(): VideoMetadata | undefined {
    const { title } = given;
    if (title === undefined) return undefined;
    return {
      description: '',
      tags: [],
      categoryId: DEFAULT_CATEGORY,
      // A video that is to be published later is private until then, or the platform refuses it.
      privacyStatus: given.publishAt === undefined ? 'unlisted' : 'private',
      ...given,
      title,
    };
  }

  return {
    unknown,
    current,
    add(name, value) {
      const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
      if (read === undefined) {
        unknown.push(name);
        return;
      }
      if (seen.has(name)) throw formError(target, name, `${name} is given more than once`);
      seen.add(name);
      const outcome = read(value);
      if ('fault' in outcome) throw formError(target, name, outcome.fault);
      given = { ...given, ...outcome };
    },
    complete() {
      const metadata = current();
      if (metadata === undefined) throw missing(target, 'title');
      if (metadata.publishAt !== undefined && metadata.privacyStatus !== 'private') {
        throw formError(target, 'publishAt', 'publishAt needs the privacyStatus private, or none');
      }
      return metadata;
    },
  };
}

/** A required field that is not there. */
export function missing(target: string, name: string): HubError {
  return formError(target, name, `The field ${name} is missing`, 'missing_field');
}
