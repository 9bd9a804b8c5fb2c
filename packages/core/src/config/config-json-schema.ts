import * as z from 'zod';
import { ConfigSchema } from './config-schema.ts';

/** JSON Schema of `.litterbox.toml`, for editors: put `#:schema URL` on its first line. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(ConfigSchema, { io: 'input' });
  return { $schema, title: 'Litterbox configuration (.litterbox.toml)', ...schema };
}
