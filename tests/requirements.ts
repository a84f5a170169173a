import { adminAndProxies } from './requirements/contract-admin.ts';
import { ai } from './requirements/contract-ai.ts';
import { httpAndAuthentication } from './requirements/contract-http.ts';
import { mcp } from './requirements/contract-mcp.ts';
import { processAndConfiguration } from './requirements/contract-process.ts';
import { video } from './requirements/contract-video.ts';
import { pending } from './requirements/pending.ts';
import { specification } from './requirements/spec.ts';

/** One clause of the specification (`S…`) or of the contract (`C…`). */
export interface Requirement {
  id: string;
  text: string;
  /** The area whose work is still to bring it; absent once a test verifies it. */
  pending?: string;
}

const areaOf = new Map(
  Object.entries(pending).flatMap(([area, ids]) =>
    ids
      .trim()
      .split(/\s+/)
      .map((id) => [id, area]),
  ),
);

/**
 * Every clause, in the order of the documents. A test names the ids that it verifies in brackets at the end of
 * its title; the reporter fails a full run on an id that no passed test verifies and that is not pending.
 */
export const requirements: readonly Requirement[] = [
  specification,
  processAndConfiguration,
  httpAndAuthentication,
  ai,
  mcp,
  video,
  adminAndProxies,
]
  .flatMap((clauses) => Object.entries(clauses))
  .map(([id, text]) => {
    const area = areaOf.get(id);
    return area === undefined ? { id, text } : { id, text, pending: area };
  });

/** Pending ids that name no clause: a misspelling that would hide a gap. */
export const unknownPending: readonly string[] = [...areaOf.keys()].filter(
  (id) => !requirements.some((requirement) => requirement.id === id),
);
