#include "ui/window/samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include "core/io/inputs/text_item.h"

namespace sonde::window {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("Samples", text); }

/// A file of resources/; empty if it is not there.
QString item(const char* file) { return resourcePath(QLatin1String(file)); }

/// With the part of it that is taken.
QString partItem(const char* file, const char* part) {
    const QString path = item(file);
    return path.isEmpty() ? path : path + u'#' + QLatin1String(part);
}

/// A text with the vocabulary that makes ids of it; empty if that is not there.
QString textItem(const char* text, const char* vocabulary) {
    const QString path = resourcePath(QLatin1String(vocabulary));
    return path.isEmpty() ? path : QString::fromStdString(io::textItemOf(text, path.toStdString()));
}

/// A three, as a line of a pen.
constexpr QLatin1String kThree(
    "#draw(white|79,300,240,400,160,540,150,650,220,660,330,580,430,460,470,580,"
    "500,680,580,700,700,620,810,480,860,340,820,270,740)");

Sample digits() {
    return {.id = QStringLiteral("digits"),
            .title = tr("Digits: draw one"),
            .description = tr("A trained network reads a digit: 95 % right on those of scikit-learn."),
            .next = tr("Draw another one (Alt+D): it is read while you draw."),
            .model = item("samples/digits/digits.onnx"),
            .inputs = {{{}, kThree, QStringLiteral("unit")}},
            .picture = item("samples/digits/three.png"),
            .icon = {},
            .runs = true};
}

Sample words() {
    return {.id = QStringLiteral("words"),
            .title = tr("Words: complete one"),
            .description = tr("A trained transformer guesses the next letter of an English word, 36 % right."),
            .next = tr("Type another beginning as the input; a softmax shows where it looks."),
            .model = item("samples/words/words.onnx"),
            .inputs = {{{}, textItem("hous", "samples/words/vocab.txt"), {}}},
            .picture = {},
            .icon = QStringLiteral("edit"),
            .runs = true};
}

Sample textDirection() {
    return {.id = QStringLiteral("text-direction"),
            .title = tr("Text direction on a line of text"),
            .description = tr("A trained classifier that detects upside-down text (PaddleOCR)."),
            .next = tr("Give it text-line.png, the same line the right way up, and compare."),
            .model = item("samples/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
            .inputs = {{{}, item("samples/text-line-upside-down.png"), QStringLiteral("signed")}},
            .picture = item("samples/text-line-upside-down.png"),
            .icon = {},
            .runs = true};
}

Sample voice() {
    return {.id = QStringLiteral("voice"),
            .title = tr("Voice in a recording"),
            .description = tr("A trained detector tells the probability of speech in 32 ms of sound (Silero VAD)."),
            .next = tr("Change the 16000 in voice.wav#16000,16000,576 to another sample; 0 is silence."),
            .model = item("samples/voice/silero_vad_v5.onnx"),
            .inputs = {{QStringLiteral("input"), partItem("samples/voice/voice.wav", "16000,16000,576"), {}},
                       {QStringLiteral("state"), QStringLiteral("#zeros"), {}},
                       {QStringLiteral("sr"), QStringLiteral("16000"), {}}},
            .picture = {},
            .icon = QStringLiteral("line"),
            .runs = true};
}

Sample resnet18() {
    return {.id = QStringLiteral("resnet18"),
            .title = tr("ResNet-18 on a photograph"),
            .description = tr("The built-in ResNet-18 on a photograph of a cat. Its weights are random."),
            .next = tr("Run (F5) and look at the feature maps."),
            .model = QStringLiteral("zoo:resnet18"),
            .inputs = {{{}, item("samples/chelsea.png"), QStringLiteral("imagenet")}},
            .picture = item("samples/chelsea.png"),
            .icon = {}};
}

Sample findTheNan() {
    return {.id = QStringLiteral("find-the-nan"),
            .title = tr("Find the NaN"),
            .description = tr("A model with a mistake that gives NaN."),
            .next = tr("Run (F5); the help shows how to find it."),
            .model = item("demos/find-the-nan.onnx"),
            .inputs = {{{}, item("demos/find-the-nan.npy"), {}}},
            .picture = {},
            .icon = QStringLiteral("warning")};
}

bool isThere(const Sample& sample) {
    if (sample.model.isEmpty()) return false;
    for (const SampleInput& input : sample.inputs)
        if (input.source.isEmpty()) return false;
    return true;
}

}  // namespace

QString resourcePath(const QString& relative) {
    const QDir program(QCoreApplication::applicationDirPath());
    const QStringList roots{
        program.filePath(QStringLiteral("../share/sonde")),
        program.filePath(QStringLiteral("../../../resources")),
        program.filePath(QStringLiteral("../../../../resources")),
    };
    for (const QString& root : roots) {
        const QFileInfo file(root + QLatin1Char('/') + relative);
        if (file.exists()) return file.canonicalFilePath();
    }
    return {};
}

std::vector<Sample> samples() {
    std::vector<Sample> all{digits(), words(), textDirection(), voice(), resnet18(), findTheNan()};
    std::erase_if(all, [](const Sample& sample) { return !isThere(sample); });
    return all;
}

}  // namespace sonde::window
