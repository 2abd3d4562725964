export default {index: 'Home', first: 'First', guide: 'Guide'};
