// Session files: what is read is written and read again.

#include <cstdlib>

#include "core/io/session_file/session_file.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = io::parseSession({reinterpret_cast<const char*>(data), size});
    if (read && io::sessionText(*read).size() <= io::SessionFile::kMaxBytes) {
        const auto again = io::parseSession(io::sessionText(*read));
        if (!again || !(*again == *read)) std::abort();
    }
    return 0;
}
