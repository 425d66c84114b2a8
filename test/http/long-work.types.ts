/** What `http/` gets cannot do the long work of commands: `npm run check` fails when one of these lines compiles. */

import type { OperationContext } from '../../src/http/operations/operation.ts';
import type { AppOptions } from '../../src/http/server.ts';

// @ts-expect-error
export type Remove = OperationContext['pets']['remove'];
// @ts-expect-error
export type Merge = AppOptions['store']['pets']['merge'];
// @ts-expect-error
export type Backup = AppOptions['store']['backup'];
