#include "core/base/error.h"

namespace sonde::base {

namespace {

Error make(ErrorKind kind, std::string what, std::string where, std::string hint) {
    return Error{kind, std::move(what), std::move(where), std::move(hint), {}};
}

/// What an argument or a file has may be very long: the middle of it is left out.
std::string withoutMiddle(const std::string& text) {
    constexpr std::size_t kMaxBytes = 1'500, kEnd = 300;
    if (text.size() <= kMaxBytes) return text;
    const auto isInside = [&text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80; };
    std::size_t end = kMaxBytes - kEnd, begin = text.size() - kEnd;
    while (end > 0 && isInside(end)) --end;
    while (begin < text.size() && isInside(begin)) ++begin;
    return text.substr(0, end) + " … " + text.substr(begin);
}

/// Messages come from files too: keep each on one line.
std::string oneLine(const std::string& text) {
    std::string line = withoutMiddle(text);
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return line;
}

}  // namespace

std::string Error::text() const {
    std::string result = what;
    if (!where.empty()) result += " (" + where + ")";
    for (const std::string& note : notes) result += "\n" + note;
    return result;
}

std::string Error::commandLineText() const {
    std::string line = oneLine(what);
    std::string place = oneLine(where);
    for (const std::string& note : notes) place += (place.empty() ? "" : "; ") + oneLine(note);
    std::string result = "sonde: error: " + line;
    if (!place.empty()) result += " (" + place + ")";
    if (!hint.empty()) result += "\nhint: " + oneLine(hint);
    return result;
}

Error usageError(std::string what, std::string where, std::string hint) {
    return make(ErrorKind::Usage, std::move(what), std::move(where), std::move(hint));
}
Error unreadable(std::string what, std::string where, std::string hint) {
    return make(ErrorKind::Unreadable, std::move(what), std::move(where), std::move(hint));
}
Error runError(std::string what, std::string where, std::string hint) {
    return make(ErrorKind::Run, std::move(what), std::move(where), std::move(hint));
}
Error cancelled(std::string where) { return make(ErrorKind::Cancelled, "cancelled", std::move(where), {}); }

}  // namespace sonde::base
