// JPEG by libjpeg-turbo: its default decoder, whose pixels other programs have too.

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>

#include "core/tensor/picture/picture.h"

namespace sonde::tensor {

namespace {

/// The library reports by a call that may not return: it jumps back to the step that called it. No step has objects
/// that would need to be destroyed.
class JpegReader {
  public:
    JpegReader(const unsigned char* data, unsigned long size) : m_data(data), m_size(size) {
        m_info.err = jpeg_std_error(&m_errors.base);
        m_errors.base.error_exit = [](j_common_ptr info) {
            std::longjmp(reinterpret_cast<Errors*>(info->err)->back, 1);
        };
        m_errors.base.output_message = [](j_common_ptr) {};
    }
    ~JpegReader() {
        if (m_made) jpeg_destroy_decompress(&m_info);
    }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    bool readHeader() {
        if (setjmp(m_errors.back)) return false;
        jpeg_create_decompress(&m_info);
        m_made = true;
        jpeg_mem_src(&m_info, m_data, m_size);
        if (jpeg_read_header(&m_info, TRUE) != JPEG_HEADER_OK) return false;
        const bool fourChannels = m_info.jpeg_color_space == JCS_CMYK || m_info.jpeg_color_space == JCS_YCCK;
        m_info.out_color_space = fourChannels ? JCS_CMYK : JCS_RGB;
        return true;
    }
    bool readRows(unsigned char* rgb, unsigned char* line) {
        if (setjmp(m_errors.back)) return false;
        jpeg_start_decompress(&m_info);
        while (m_info.output_scanline < m_info.output_height) {
            unsigned char* to = rgb + static_cast<std::size_t>(m_info.output_scanline) * m_info.output_width * 3;
            JSAMPROW row = line ? line : to;
            jpeg_read_scanlines(&m_info, &row, 1);
            for (unsigned x = 0; line && x < m_info.output_width; ++x) {
                // Writers of CMYK store the ink's absence (Adobe's convention).
                for (int c = 0; c < 3; ++c)
                    to[3 * x + static_cast<unsigned>(c)] =
                        static_cast<unsigned char>(line[4 * x + static_cast<unsigned>(c)] * line[4 * x + 3] / 255);
            }
        }
        jpeg_finish_decompress(&m_info);
        return true;
    }
    const jpeg_decompress_struct& info() const { return m_info; }

  private:
    struct Errors {
        jpeg_error_mgr base;
        std::jmp_buf back;
    };
    const unsigned char* m_data;
    unsigned long m_size;
    Errors m_errors{};
    jpeg_decompress_struct m_info{};
    bool m_made = false;
};

}  // namespace

base::Result<Picture> decodeJpeg(std::span<const std::byte> bytes) {
    JpegReader reader(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
    if (!reader.readHeader()) return damagedPicture("JPEG");
    SONDE_ASSIGN(Picture picture, emptyPicture(reader.info().image_width, reader.info().image_height));
    std::vector<unsigned char> line;
    if (reader.info().out_color_space == JCS_CMYK) line.resize(static_cast<std::size_t>(picture.width) * 4);
    if (!reader.readRows(picture.rgb.data(), line.empty() ? nullptr : line.data())) return damagedPicture("JPEG");
    return picture;
}

}  // namespace sonde::tensor
