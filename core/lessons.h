#pragma once

// Lessons: their format, and the nodes of a model that they are about.

#include "core/lessons/binding.h"
#include "core/lessons/lesson.h"
#include "core/lessons/shipped.h"
