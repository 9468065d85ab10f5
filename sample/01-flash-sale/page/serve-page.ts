import { dirname, join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import helmet from 'helmet';

/** Serves the pages of the tour, which share one document, with the libraries and the font out of their packages. */
export function servePage(app: NestExpressApplication): void {
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'self'"],
          baseUri: ["'none'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
        },
      },
    }),
  );
  for (const prefix of ['/', '/fencing', '/takeover']) {
    app.useStaticAssets(join(__dirname, '..', 'browser', 'public'), { prefix });
  }
  app.useStaticAssets(dirname(require.resolve('uplot')), { prefix: '/uplot' });
  // What Node would get is the build next to it, for servers.
  app.useStaticAssets(join(dirname(require.resolve('lit-html')), '..'), { prefix: '/lit-html' });
  app.useStaticAssets(dirname(require.resolve('@fontsource-variable/inter/index.css')), { prefix: '/inter' });
}
