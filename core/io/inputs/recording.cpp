// Sound files as values of inputs: read by libsndfile, brought to another rate by libsamplerate.

#include "core/io/inputs/recording.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <samplerate.h>
#include <sndfile.h>
#include <tuple>

#include "core/base/count_text.h"
#include "core/base/counted_text.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/noise.h"
#include "core/io/inputs/recording_head.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr std::int64_t kMaxSamples = std::int64_t{1} << 27;  ///< of all channels together
constexpr int kMaxRate = 1'000'000, kMaxChannels = 256;
constexpr int kMaxFactor = 256;  ///< libsamplerate makes at most so many samples of one

bool isRecording(std::span<const std::byte> head) {
    const auto has = [&head](std::size_t at, const char* text) {
        return head.size() >= at + 4 && std::memcmp(head.data() + at, text, 4) == 0;
    };
    return ((has(0, "RIFF") || has(0, "RF64")) && has(8, "WAVE")) || has(0, "fLaC") || has(0, "OggS") ||
           (has(0, "FORM") && (has(8, "AIFF") || has(8, "AIFC")));
}

/// libsndfile reads from memory through these.
struct Cursor {
    std::span<const std::byte> bytes;
    sf_count_t at = 0;
};

Cursor& cursorOf(void* data) { return *static_cast<Cursor*>(data); }

SF_VIRTUAL_IO memoryAccess() {
    SF_VIRTUAL_IO access{};
    access.get_filelen = [](void* data) { return static_cast<sf_count_t>(cursorOf(data).bytes.size()); };
    access.seek = [](sf_count_t offset, int whence, void* data) {
        Cursor& cursor = cursorOf(data);
        const auto size = static_cast<sf_count_t>(cursor.bytes.size());
        const sf_count_t base = whence == SEEK_CUR ? cursor.at : whence == SEEK_END ? size : 0;
        // A damaged header may name any offset.
        if (offset > size || offset < -size) return sf_count_t{-1};
        cursor.at = std::clamp<sf_count_t>(base + offset, 0, size);
        return cursor.at;
    };
    access.read = [](void* to, sf_count_t count, void* data) {
        Cursor& cursor = cursorOf(data);
        const auto rest = static_cast<sf_count_t>(cursor.bytes.size()) - cursor.at;
        const sf_count_t taken = std::clamp<sf_count_t>(count, 0, rest);
        std::memcpy(to, cursor.bytes.data() + cursor.at, static_cast<std::size_t>(taken));
        cursor.at += taken;
        return taken;
    };
    access.write = [](const void*, sf_count_t, void*) { return sf_count_t{0}; };
    access.tell = [](void* data) { return cursorOf(data).at; };
    return access;
}

/// Samples of all channels in turn, in [-1, 1].
struct Sound {
    std::vector<float> samples;
    int channels = 0;
    int rate = 0;  ///< samples per second

    std::int64_t frames() const { return static_cast<std::int64_t>(samples.size()) / channels; }
};

using OpenedSound = std::unique_ptr<SNDFILE, int (*)(SNDFILE*)>;

/// What the file's head says, and the file for reading; `cursor` and `access` outlive it.
Result<OpenedSound> openSound(Cursor& cursor, SF_VIRTUAL_IO& access, SF_INFO& info, const std::string& path) {
    OpenedSound opened(sf_open_virtual(&access, SFM_READ, &info, &cursor), sf_close);
    // libsndfile does not say that a rate of 0 is what it refuses.
    const std::int64_t rate = opened ? info.samplerate : declaredRate(cursor.bytes).value_or(1);
    if (rate < 1 || rate > kMaxRate)
        return base::unreadable("the head of the recording says " + base::countText(rate) + " samples per second", path,
                                "it must say 1 to " + base::countText(kMaxRate) + "; speech mostly has 16,000");
    if (!opened) return base::unreadable(std::string("the recording cannot be read: ") + sf_strerror(nullptr), path);
    if (info.channels < 1 || info.channels > kMaxChannels)
        return base::unreadable("the recording has " + base::countedText(info.channels, "channel") + ": 1 to " +
                                    std::to_string(kMaxChannels) + " can be read",
                                path);
    return opened;
}

void addNote(std::string& note, const std::string& text) { note += (note.empty() ? "" : "; ") + text; }

/// A file that was cut off is read as far as it goes.
Result<Sound> readSound(const DataFile& file, std::string& note) {
    Cursor cursor{file.file->bytes()};
    SF_VIRTUAL_IO access = memoryAccess();
    SF_INFO info{};
    SONDE_ASSIGN(const OpenedSound opened, openSound(cursor, access, info, file.path));
    Sound sound{{}, info.channels, info.samplerate};
    // The header may claim any length: only what is read takes memory.
    std::vector<float> block(std::size_t{4096} * static_cast<std::size_t>(info.channels));
    for (;;) {
        const sf_count_t frames = sf_readf_float(opened.get(), block.data(), 4096);
        if (frames <= 0) break;
        sound.samples.insert(sound.samples.end(), block.begin(), block.begin() + frames * info.channels);
        if (static_cast<std::int64_t>(sound.samples.size()) > kMaxSamples)
            return base::unreadable("the recording has more than " + std::to_string(kMaxSamples) + " samples",
                                    file.path);
    }
    if (sound.samples.empty()) return base::unreadable("the recording has no samples", file.path);
    const std::int64_t declared = declaredSamples(cursor.bytes).value_or(info.frames),
                       missing = declared - sound.frames();
    // Where the head does not say it, libsndfile's count may be the largest number that there is.
    if (missing > 0 && declared <= kMaxSamples)
        addNote(note, "the file ends early: the last " + std::to_string(missing) + " of its " +
                          std::to_string(declared) + " samples are missing");
    return sound;
}

/// What stands behind '#': RATE, RATE,START or RATE,START,COUNT; an empty RATE keeps that of the file. START and COUNT
/// count samples of one channel at that rate.
struct Part {
    std::optional<std::int64_t> rate, start, count;
};

Result<Part> parsePart(const DataFile& file) {
    Part part;
    std::string_view rest = file.part;
    for (std::optional<std::int64_t>* field : {&part.rate, &part.start, &part.count}) {
        if (rest.empty()) break;
        const std::string_view text = rest.substr(0, rest.find(','));
        rest = text.size() == rest.size() ? std::string_view() : rest.substr(text.size() + 1);
        if (text.empty()) continue;
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || end != text.data() + text.size() || number < 0)
            return usageError("'" + std::string(text) + "' is no count of samples", file.path + "#" + file.part,
                              "write speech.wav#16000 for the rate, or speech.wav#16000,START,COUNT");
        *field = number;
    }
    if (!rest.empty() || (part.rate && (*part.rate < 1 || *part.rate > kMaxRate)) || part.count == 0)
        return usageError("'" + file.part + "' is no part of a recording", file.path + "#" + file.part,
                          "write RATE, or RATE,START,COUNT: samples per second, first sample, number of samples");
    return part;
}

Result<void> resample(Sound& sound, int rate, const std::string& path) {
    if (rate == sound.rate) return {};
    const double ratio = static_cast<double>(rate) / sound.rate;
    const double made = std::ceil(static_cast<double>(sound.frames()) * ratio);
    if (!src_is_valid_ratio(ratio) || made * sound.channels > static_cast<double>(kMaxSamples))
        return usageError("the recording cannot be brought from " + std::to_string(sound.rate) + " to " +
                              std::to_string(rate) + " samples per second",
                          path,
                          "by a factor of " + std::to_string(kMaxFactor) + " at most, and to " +
                              base::countText(kMaxSamples) + " samples");
    std::vector<float> samples(static_cast<std::size_t>(made) * static_cast<std::size_t>(sound.channels));
    SRC_DATA data{};
    data.data_in = sound.samples.data();
    data.data_out = samples.data();
    data.input_frames = static_cast<long>(sound.frames());
    data.output_frames = static_cast<long>(made);
    data.src_ratio = ratio;
    if (const int error = src_simple(&data, SRC_SINC_BEST_QUALITY, sound.channels); error != 0)
        return usageError(std::string("the recording cannot be resampled: ") + src_strerror(error), path);
    samples.resize(static_cast<std::size_t>(data.output_frames_gen) * static_cast<std::size_t>(sound.channels));
    sound.samples = std::move(samples);
    sound.rate = rate;
    return {};
}

/// How an input takes sound: [S], [N,S] or [C,S], [N,C,S].
struct SoundLayout {
    int rank = 2;
    int channels = 1;
    std::optional<std::int64_t> length;  ///< where the model declares it
};

Result<SoundLayout> layoutFor(const InputInfo& input, const Sound& sound) {
    SoundLayout layout;
    if (!input.type.shape) return layout;
    const auto& dims = *input.type.shape;
    layout.rank = static_cast<int>(dims.size());
    if (layout.rank < 1 || layout.rank > 3)
        return usageError("the input " + input.type.text() + " takes no recording", "input '" + input.name + "'",
                          "a recording fits [samples], [batch,samples] and [batch,channels,samples]");
    if (dims.back().known()) layout.length = dims.back().value;
    if (layout.rank == 3)
        layout.channels =
            dims[1].known() ? static_cast<int>(std::min<std::int64_t>(dims[1].value, 257)) : sound.channels;
    if (layout.rank == 2 && dims[0].known() && dims[0].value == sound.channels) layout.channels = sound.channels;
    if (layout.channels != 1 && layout.channels != sound.channels)
        return usageError("the recording has " + std::to_string(sound.channels) + " channels and the input " +
                              input.type.text() + " takes " + std::to_string(layout.channels),
                          "input '" + input.name + "'");
    return layout;
}

void mixDown(Sound& sound) {
    const auto channels = static_cast<std::size_t>(sound.channels);
    std::vector<float> mono(sound.samples.size() / channels);
    for (std::size_t i = 0; i < mono.size(); ++i) {
        double sum = 0;
        for (std::size_t c = 0; c < channels; ++c) sum += sound.samples[i * channels + c];
        mono[i] = static_cast<float>(sum / static_cast<double>(channels));
    }
    sound.samples = std::move(mono);
    sound.channels = 1;
}

/// Without a count up to the end.
Result<void> take(Sound& sound, std::int64_t start, const std::optional<std::int64_t>& wanted, const DataFile& file,
                  std::string& note) {
    const std::int64_t frames = sound.frames();
    if (start >= frames)
        return usageError(
            "the recording has " + std::to_string(frames) + " samples: none from " + std::to_string(start),
            file.path + "#" + file.part);
    const std::int64_t count = std::min(wanted.value_or(frames), frames - start);
    if (wanted && count < *wanted)
        addNote(note, "from sample " + std::to_string(start) + " on there are " + std::to_string(count) + ", not " +
                          std::to_string(*wanted));
    const auto begin = sound.samples.begin() + start * sound.channels;
    sound.samples = std::vector<float>(begin, begin + count * sound.channels);
    return {};
}

/// Cut, or followed by silence, where the model declares another length.
Result<void> fitLength(Sound& sound, std::int64_t length, const DataFile& file, std::string& note) {
    const std::int64_t frames = sound.frames();
    if (length < 1 || length > kMaxSamples / sound.channels)
        return usageError("the input takes " + std::to_string(length) + " samples", file.path);
    if (length < frames)
        addNote(note, "the first " + std::to_string(length) + " of " + std::to_string(frames) + " samples are used");
    if (length > frames)
        addNote(note, "silence follows the " + std::to_string(frames) + " samples up to " + std::to_string(length));
    sound.samples.resize(static_cast<std::size_t>(length * sound.channels));
    return {};
}

Result<Tensor> asTensor(const Sound& sound, int rank) {
    const std::int64_t frames = sound.frames();
    SONDE_ASSIGN(Tensor tensor, Tensor::allocate(DType::Float32, Shape{sound.channels, frames}));
    float* out = tensor.mutableData<float>();
    for (std::int64_t c = 0; c < sound.channels; ++c)
        for (std::int64_t i = 0; i < frames; ++i)
            *out++ = sound.samples[static_cast<std::size_t>(i * sound.channels + c)];
    if (rank == 1) return tensor.reshaped(Shape{frames});
    if (rank == 3) return tensor.reshaped(Shape{1, sound.channels, frames});
    return tensor;
}

/// Integers as a sound card has them: 1 is 32768.
Result<Tensor> asIntegers(const Tensor& tensor, const InputInfo& input) {
    if (input.type.dtype != DType::Int16)
        return usageError("the input " + input.type.text() + " takes no recording", "input '" + input.name + "'",
                          "a recording gives floats in [-1, 1], or int16");
    SONDE_ASSIGN(Tensor made, Tensor::allocate(DType::Int16, tensor.shape()));
    const float* from = tensor.data<float>();
    auto* to = made.mutableData<std::int16_t>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
        to[i] = static_cast<std::int16_t>(std::clamp(std::lround(from[i] * 32768.0F), -32768L, 32767L));
    return made;
}

Result<Tensor> readRecording(const DataFile& file, const InputInfo& input, const ImageOptions&, std::string& note) {
    SONDE_ASSIGN(const Part part, parsePart(file));
    SONDE_ASSIGN(Sound sound, readSound(file, note));
    SONDE_ASSIGN(const SoundLayout layout, layoutFor(input, sound));
    if (layout.channels == 1 && sound.channels > 1) {
        addNote(note, std::to_string(sound.channels) + " channels are mixed into one");
        mixDown(sound);
    }
    if (part.rate && *part.rate != sound.rate) {
        addNote(note, "resampled from " + std::to_string(sound.rate) + " to " + std::to_string(*part.rate) + " Hz");
        SONDE_TRY(resample(sound, static_cast<int>(*part.rate), file.path));
    }
    if (part.start || part.count) SONDE_TRY(take(sound, part.start.value_or(0), part.count, file, note));
    if (layout.length && *layout.length != sound.frames()) SONDE_TRY(fitLength(sound, *layout.length, file, note));
    SONDE_ASSIGN(Tensor tensor, asTensor(sound, layout.rank));
    const bool isInteger = input.type.dtype != DType::Undefined && tensor::isInteger(input.type.dtype);
    return isInteger ? asIntegers(tensor, input) : Result<Tensor>(std::move(tensor));
}

}  // namespace

bool isRecordingItem(std::string_view item) {
    const std::string path = splitDataItem(withoutNoise(item)).first;
    const DataFileKind* const kind = dataFileKindOf(path, {});
    return kind && kind->read == readRecording;
}

Result<int> recordingRate(std::string_view item) {
    DataFile data;
    std::tie(data.path, data.part) = splitDataItem(withoutNoise(item));
    SONDE_ASSIGN(const Part part, parsePart(data));
    if (part.rate) return static_cast<int>(*part.rate);
    SONDE_ASSIGN(const auto file, base::MappedFile::open(data.path));
    Cursor cursor{file->bytes()};
    SF_VIRTUAL_IO access = memoryAccess();
    SF_INFO info{};
    SONDE_ASSIGN(const OpenedSound opened, openSound(cursor, access, info, data.path));
    return info.samplerate;
}

DataFileKind recordingKind() {
    DataFileKind kind;
    kind.name = "recording";
    kind.formats = "WAV, FLAC, AIFF, Ogg";
    kind.suffixes = {".wav", ".flac", ".aiff", ".aif", ".ogg", ".oga"};
    kind.takesPart = true;
    kind.isBegunBy = isRecording;
    kind.read = readRecording;
    return kind;
}

}  // namespace sonde::io
