// JPEG 2000 by OpenJPEG: grey or RGB, also YCC; up to 16 bits a channel, brought to 8.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <openjpeg.h>

#include "core/tensor/picture/picture.h"

namespace sonde::tensor {

namespace {

struct Source {
    std::span<const std::byte> bytes;
    std::size_t at = 0;
};

OPJ_SIZE_T readSome(void* to, OPJ_SIZE_T count, void* user) {
    auto& source = *static_cast<Source*>(user);
    if (source.at >= source.bytes.size()) return static_cast<OPJ_SIZE_T>(-1);
    const std::size_t some = std::min<std::size_t>(count, source.bytes.size() - source.at);
    std::memcpy(to, source.bytes.data() + source.at, some);
    source.at += some;
    return some;
}

OPJ_OFF_T skip(OPJ_OFF_T count, void* user) {
    auto& source = *static_cast<Source*>(user);
    if (count < 0 || static_cast<std::size_t>(count) > source.bytes.size() - source.at) return -1;
    source.at += static_cast<std::size_t>(count);
    return count;
}

OPJ_BOOL seek(OPJ_OFF_T to, void* user) {
    auto& source = *static_cast<Source*>(user);
    if (to < 0 || static_cast<std::size_t>(to) > source.bytes.size()) return OPJ_FALSE;
    source.at = static_cast<std::size_t>(to);
    return OPJ_TRUE;
}

/// One sample brought to 0 … 255.
double sample(const opj_image_comp_t& channel, std::size_t index) {
    const double value = channel.data[index] + (channel.sgnd ? std::ldexp(1, static_cast<int>(channel.prec) - 1) : 0.0);
    return channel.prec == 8 ? value : value * 255.0 / (std::ldexp(1, static_cast<int>(channel.prec)) - 1);
}

std::uint8_t toByte(double value) { return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L)); }

}  // namespace

base::Result<Picture> decodeJpeg2000(std::span<const std::byte> bytes) {
    Source source{bytes};
    const bool isBare = std::to_integer<int>(bytes[0]) == 0xff;
    const std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec(
        opj_create_decompress(isBare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2),
        [](opj_codec_t* made) { opj_destroy_codec(made); });
    const std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream(
        opj_stream_default_create(OPJ_TRUE), [](opj_stream_t* made) { opj_stream_destroy(made); });
    if (!codec || !stream) return damagedPicture("JPEG 2000");
    opj_stream_set_user_data(stream.get(), &source, nullptr);
    opj_stream_set_user_data_length(stream.get(), bytes.size());
    opj_stream_set_read_function(stream.get(), readSome);
    opj_stream_set_skip_function(stream.get(), skip);
    opj_stream_set_seek_function(stream.get(), seek);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    opj_image_t* header = nullptr;
    if (!opj_setup_decoder(codec.get(), &parameters) || !opj_read_header(stream.get(), codec.get(), &header))
        return damagedPicture("JPEG 2000");
    const std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> image(
        header, [](opj_image_t* made) { opj_image_destroy(made); });
    if (image->numcomps < 1 || image->x1 <= image->x0 || image->y1 <= image->y0) return damagedPicture("JPEG 2000");
    SONDE_ASSIGN(Picture picture,
                 emptyPicture(std::int64_t{image->x1} - image->x0, std::int64_t{image->y1} - image->y0));
    if (!opj_decode(codec.get(), stream.get(), image.get()) || !opj_end_decompress(codec.get(), stream.get()))
        return damagedPicture("JPEG 2000");
    const std::size_t channels = image->numcomps >= 3 ? 3 : 1;
    const std::size_t pixels = picture.rgb.size() / 3;
    for (std::size_t c = 0; c < channels; ++c) {
        const opj_image_comp_t& channel = image->comps[c];
        // Channels of less than the full size (subsampled) are not brought together.
        if (!channel.data || std::size_t{channel.w} * channel.h != pixels || channel.prec < 1 || channel.prec > 16)
            return damagedPicture("JPEG 2000");
    }
    const bool isYcc = channels == 3 && image->color_space == OPJ_CLRSPC_SYCC;
    for (std::size_t i = 0; i < pixels; ++i) {
        double rgb[3];
        for (std::size_t c = 0; c < 3; ++c) rgb[c] = sample(image->comps[channels == 3 ? c : 0], i);
        if (isYcc) {
            // ITU-R BT.601, as JFIF has it.
            const double y = rgb[0], cb = rgb[1] - 128, cr = rgb[2] - 128;
            rgb[0] = y + 1.402 * cr;
            rgb[1] = y - 0.344136 * cb - 0.714136 * cr;
            rgb[2] = y + 1.772 * cb;
        }
        for (std::size_t c = 0; c < 3; ++c) picture.rgb[3 * i + c] = toByte(rgb[c]);
    }
    return picture;
}

}  // namespace sonde::tensor
