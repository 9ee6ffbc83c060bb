#pragma once

// What most tests include: precompiled with test_program.h. A test still includes what it uses.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/npz/npz.h"
