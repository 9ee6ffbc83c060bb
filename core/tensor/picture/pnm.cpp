// The portable bitmaps of Netpbm (PBM, PGM, PPM; P1 to P6), https://netpbm.sourceforge.net/doc/pnm.html.

#include <cctype>
#include <optional>

#include "core/tensor/picture/picture.h"

namespace sonde::tensor {

namespace {

class PnmReader {
  public:
    explicit PnmReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    /// The next number; comments run from '#' to the line's end. Nothing if there is none, or one above 2^31.
    std::optional<std::int64_t> number() {
        skipSpace();
        std::int64_t value = -1;
        for (; m_at < m_bytes.size() && std::isdigit(peek()); ++m_at) {
            value = std::max<std::int64_t>(value, 0) * 10 + (peek() - '0');
            if (value > (std::int64_t{1} << 31)) return std::nullopt;
        }
        return value < 0 ? std::nullopt : std::optional(value);
    }
    /// One digit of a P1 picture: they may stand without space between them.
    std::optional<std::int64_t> bit() {
        skipSpace();
        if (m_at >= m_bytes.size() || (peek() != '0' && peek() != '1')) return std::nullopt;
        return std::to_integer<int>(m_bytes[m_at++]) - '0';
    }
    /// The one white space between header and binary data.
    bool endHeader() { return m_at < m_bytes.size() && std::isspace(peek()) && ++m_at; }
    std::size_t left() const { return m_bytes.size() - m_at; }
    int byte() { return std::to_integer<int>(m_bytes[m_at++]); }
    void start() { m_at = 2; }

  private:
    int peek() const { return std::to_integer<int>(m_bytes[m_at]); }
    void skipSpace() {
        while (m_at < m_bytes.size() && (std::isspace(peek()) || peek() == '#')) {
            if (peek() == '#') {
                while (m_at < m_bytes.size() && peek() != '\n') ++m_at;
            } else {
                ++m_at;
            }
        }
    }

    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
};

}  // namespace

base::Result<Picture> decodePnm(std::span<const std::byte> bytes) {
    PnmReader reader(bytes);
    reader.start();
    const int kind = std::to_integer<int>(bytes[1]) - '0';
    const bool isBitmap = kind == 1 || kind == 4, isBinary = kind >= 4;
    const std::size_t channels = kind == 3 || kind == 6 ? 3 : 1;
    const auto width = reader.number(), height = reader.number();
    const auto most = isBitmap ? std::optional<std::int64_t>(1) : reader.number();
    if (!width || !height || !most || *most < 1 || *most > 65535 || (isBinary && !reader.endHeader()))
        return damagedPicture("PNM");
    // Nothing is taken for a picture that the file does not hold: every sample takes a bit at least.
    if (*width > 0 && *height > static_cast<std::int64_t>(reader.left()) * 8 / *width) return damagedPicture("PNM");
    SONDE_ASSIGN(Picture picture, emptyPicture(*width, *height));
    const std::size_t rowBytes = kind == 4 ? (static_cast<std::size_t>(*width) + 7) / 8
                                           : static_cast<std::size_t>(*width) * channels * (*most > 255 ? 2 : 1);
    if (isBinary && reader.left() / static_cast<std::size_t>(*height) < rowBytes) return damagedPicture("PNM");
    std::uint8_t* out = picture.rgb.data();
    for (std::int64_t y = 0; y < *height; ++y) {
        int packed = 0;
        for (std::int64_t x = 0; x < *width; ++x) {
            std::uint8_t pixel[3] = {};
            for (std::size_t c = 0; c < channels; ++c) {
                std::int64_t value = 0;
                if (kind == 4) {
                    if (x % 8 == 0) packed = reader.byte();
                    value = packed >> (7 - x % 8) & 1;
                } else if (isBinary) {
                    value = reader.byte();
                    if (*most > 255) value = value * 256 + reader.byte();
                } else {
                    const auto read = isBitmap ? reader.bit() : reader.number();
                    if (!read) return damagedPicture("PNM");
                    value = *read;
                }
                if (value > *most) return damagedPicture("PNM");
                // A set bit of a bitmap is black.
                if (isBitmap) value = 1 - value;
                pixel[c] = static_cast<std::uint8_t>((value * 255 + *most / 2) / *most);
            }
            for (std::size_t c = 0; c < 3; ++c) *out++ = pixel[channels == 3 ? c : 0];
        }
    }
    return picture;
}

}  // namespace sonde::tensor
