#pragma once

// Built-in models.

#include "core/zoo/zoo.h"
