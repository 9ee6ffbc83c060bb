#include "core/session/samples/samples.h"

#include <algorithm>

#include "core/io/inputs/text_item.h"

namespace sonde::session {

namespace {

namespace fs = std::filesystem;

/// A three, as a line of a pen.
constexpr std::string_view kThree(
    "#draw(white|79,300,240,400,160,540,150,650,220,660,330,580,430,460,470,580,"
    "500,680,580,700,700,620,810,480,860,340,820,270,740)");

/// The table of samples; their files are found from the folder of the program.
class Table {
  public:
    explicit Table(const fs::path& program) : m_program(program) {}

    std::vector<Sample> all() const { return {digits(), words(), textDirection(), voice(), resnet18(), findTheNan()}; }

  private:
    /// A file of resources/; empty if it is not there.
    std::string item(std::string_view file) const { return resourcePath(m_program, file); }

    /// With the part of it that is taken.
    std::string partItem(std::string_view file, std::string_view part) const {
        const std::string path = item(file);
        return path.empty() ? path : path + "#" + std::string(part);
    }

    /// A text with the vocabulary that makes ids of it; empty if that is not there.
    std::string textItem(std::string_view text, std::string_view vocabulary) const {
        const std::string path = item(vocabulary);
        return path.empty() ? path : io::textItemOf(std::string(text), path);
    }

    Sample digits() const {
        return {.id = "digits",
                .title = "Digits: draw one",
                .description = "A trained network reads a digit: 95 % right on those of scikit-learn.",
                .next = "Draw another one (Alt+D): it is read while you draw.",
                .model = item("samples/digits/digits.onnx"),
                .inputs = {{{}, std::string(kThree), "unit"}},
                .picture = item("samples/digits/three.png"),
                .icon = {},
                .runs = true};
    }

    Sample words() const {
        return {.id = "words",
                .title = "Words: complete one",
                .description = "A trained transformer guesses the next letter of an English word, 36 % right.",
                .next = "Type another beginning as the input; a softmax shows where it looks.",
                .model = item("samples/words/words.onnx"),
                .inputs = {{{}, textItem("hous", "samples/words/vocab.txt"), {}}},
                .picture = {},
                .icon = "edit",
                .runs = true};
    }

    Sample textDirection() const {
        return {.id = "text-direction",
                .title = "Text direction on a line of text",
                .description = "A trained classifier that detects upside-down text (PaddleOCR).",
                .next = "Give it text-line.png, the same line the right way up, and compare.",
                .model = item("samples/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
                .inputs = {{{}, item("samples/text-line-upside-down.png"), "signed"}},
                .picture = item("samples/text-line-upside-down.png"),
                .icon = {},
                .runs = true};
    }

    Sample voice() const {
        return {.id = "voice",
                .title = "Voice in a recording",
                .description = "A trained detector tells the probability of speech in 32 ms of sound (Silero VAD).",
                .next = "Change the 16000 in voice.wav#16000,16000,576 to another sample; 0 is silence.",
                .model = item("samples/voice/silero_vad_v5.onnx"),
                .inputs = {{"input", partItem("samples/voice/voice.wav", "16000,16000,576"), {}},
                           {"state", "#zeros", {}},
                           {"sr", "16000", {}}},
                .picture = {},
                .icon = "line",
                .runs = true};
    }

    Sample resnet18() const {
        return {.id = "resnet18",
                .title = "ResNet-18 on a photograph",
                .description = "The built-in ResNet-18 on a photograph of a cat. Its weights are random.",
                .next = "Run (F5) and inspect the feature maps.",
                .model = "zoo:resnet18",
                .inputs = {{{}, item("samples/chelsea.png"), "imagenet"}},
                .picture = item("samples/chelsea.png"),
                .icon = {}};
    }

    Sample findTheNan() const {
        return {.id = "find-the-nan",
                .title = "Find the NaN",
                .description = "A model with a mistake that gives NaN.",
                .next = "Run (F5); the help shows how to find it.",
                .model = item("demos/find-the-nan.onnx"),
                .inputs = {{{}, item("demos/find-the-nan.npy"), {}}},
                .picture = {},
                .icon = "warning"};
    }

    const fs::path& m_program;
};

bool isThere(const Sample& sample) {
    return !sample.model.empty() &&
           std::ranges::none_of(sample.inputs, [](const SampleInput& input) { return input.source.empty(); });
}

}  // namespace

std::vector<std::string> resourceFolders(const fs::path& program) {
    std::vector<std::string> folders;
    for (const char* const root : {"../share/sonde", "../../../resources", "../../../../resources"})
        folders.push_back((program / root).lexically_normal().string());
    return folders;
}

std::string resourcePath(const fs::path& program, std::string_view relative) {
    for (const std::string& folder : resourceFolders(program)) {
        std::error_code failed;
        const fs::path found = fs::canonical(fs::path(folder) / relative, failed);
        if (!failed) return found.string();
    }
    return {};
}

std::vector<Sample> samples(const fs::path& program) {
    std::vector<Sample> all = Table(program).all();
    std::erase_if(all, [](const Sample& sample) { return !isThere(sample); });
    return all;
}

}  // namespace sonde::session
