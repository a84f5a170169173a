/** `npm run docs`: writes the configuration reference from the schema that validates. */
import { writeFileSync } from 'node:fs';
import { renderReference } from '../lib/config/reference.ts';

const path = 'docs/configuration.md';
writeFileSync(path, renderReference());
console.log(`${path} written`);
