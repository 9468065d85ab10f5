import { mount } from './mount.js';
import { fencingPage } from './views/fencing-page.js';

void mount({ pictures: '/tour/fencing', view: fencingPage });
