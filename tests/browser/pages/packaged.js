// The chat as a package, in a bundle.
import { init } from 'docent-widget';

init({ ...document.body.dataset });
