import * as z from 'zod';

// The page's policy forbids code made at run time, which zod would otherwise try as soon as a schema is built.
z.config({ jitless: true });
