#!/usr/bin/env node
'use strict';
require('../bundle/bin.cjs');
