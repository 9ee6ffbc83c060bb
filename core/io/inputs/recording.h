#pragma once

#include <string_view>

#include "core/base/result.h"

namespace sonde::io {

/// Whether an item names a recording, by the suffix of its file.
bool isRecordingItem(std::string_view item);
/// Samples per second of what an item of a recording gives: 16000 of "speech.wav#16000", else the file's. Reads the
/// beginning of the file. Errors: the file cannot be read, or is no recording.
base::Result<int> recordingRate(std::string_view item);

}  // namespace sonde::io
