#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde::io {

/// GPT-2 writes each byte of a text as a printable character (Radford et al. 2019, encoder.py, bytes_to_unicode):
/// printable characters of Latin-1 stand for themselves, the other bytes are U+0100 and what follows, in order.

std::string bytesAsCharacters(std::string_view bytes);
/// The bytes of such a text; nothing if a character stands for none.
std::optional<std::string> charactersAsBytes(std::string_view text);

/// `text` with U+FFFD for what is no UTF-8.
std::string validUtf8(std::string_view text);

}  // namespace sonde::io
