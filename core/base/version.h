#pragma once

/// Sonde's version; the build holds it against the project's.
#define SONDE_CORE_VERSION "0.1.0"
