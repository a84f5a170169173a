/** `npm run docs`: writes the configuration reference and the OpenAPI document from the schemas that validate. */
import { writeFileSync } from 'node:fs';
import { renderReference } from '../lib/config/reference.ts';
import { renderDocument } from '../lib/docs/openapi.ts';

const FILES = {
  'docs/configuration.md': renderReference(),
  'docs/openapi.json': renderDocument(),
};
for (const [path, text] of Object.entries(FILES)) {
  writeFileSync(path, text);
  console.log(`${path} written`);
}
