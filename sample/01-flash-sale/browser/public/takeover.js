import { mount } from './mount.js';
import { takeoverPage } from './views/takeover-page.js';

void mount({ pictures: '/tour/takeover', view: takeoverPage });
