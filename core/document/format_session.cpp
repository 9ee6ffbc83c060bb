#include "core/document/format_session.h"

#include "core/io/session_file/session_file.h"

namespace sonde::document {

Format sessionFormat() {
    return {"session",
            "session",
            "Session files: a model with its inputs, points and notes (.sonde)",
            {"sonde"},
            [](std::span<const std::byte> head, const std::filesystem::path&) { return io::looksLikeSession(head); },
            nullptr};
}

}  // namespace sonde::document
