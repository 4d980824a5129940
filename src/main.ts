#!/usr/bin/env node
console.log('benchtop');
