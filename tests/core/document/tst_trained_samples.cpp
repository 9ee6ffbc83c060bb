// The trained samples of resources/samples: that they are as good as their pages claim, and that our engine gives what
// PyTorch gave when they were trained. Their test/ folders say where digits, words and logits come from.

#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QtTest>

#include <algorithm>
#include <cmath>

#include "core/document/document.h"
#include "core/document/input_infos.h"
#include "core/exec/runner.h"
#include "core/io/image/image.h"
#include "core/io/inputs/inputs.h"
#include "core/io/inputs/vocabulary.h"
#include "core/session/outputs/class_labels.h"

namespace tst_trained_samples {

using namespace sonde;
using exec::Plan;
using exec::PlanOptions;
using exec::Recording;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr int kSide = 28;

QString samplePath(const char* file) { return QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/") + file; }

/// Lines of a text file without comments and empty ones.
QStringList linesOf(const char* file) {
    QFile opened(samplePath(file));
    if (!opened.open(QIODevice::ReadOnly)) qFatal("%s", file);
    QStringList lines = QString::fromUtf8(opened.readAll()).split(u'\n', Qt::SkipEmptyParts);
    lines.removeIf([](const QString& line) { return line.startsWith(u'#'); });
    return lines;
}

/// The number that a sample's page claims, by an expression with one group.
double claimed(const char* page, const char* expression) {
    QFile opened(samplePath(page));
    if (!opened.open(QIODevice::ReadOnly)) return -1;
    const auto match = QRegularExpression(QString::fromLatin1(expression)).match(QString::fromUtf8(opened.readAll()));
    return match.hasMatch() ? match.captured(1).toDouble() : -1;
}

/// A model of the samples.
struct Model {
    std::shared_ptr<const document::Document> document;
    exec::Runner runner{1};

    explicit Model(const char* file) {
        auto opened = document::open(samplePath(file).toStdString(), {});
        if (!opened) qFatal("%s", opened.error().text().c_str());
        document = *opened;
    }
    Recording run(const std::vector<Value>& inputs, const PlanOptions& options = {}) {
        Recording recording = runner.run(*Plan::make(document->graph, options).value(), inputs);
        if (recording.error) qFatal("%s", recording.error->text().c_str());
        return recording;
    }
    Tensor output(const std::vector<Value>& inputs) {
        return run(inputs).outputs.front().tensor().contiguous().value();
    }
};

/// Pictures of 28 x 28 with values from 0 to 1.
struct Pictures {
    std::vector<float> pixels;
    std::vector<int> digits;

    Tensor tensor(std::size_t first, std::size_t count) const {
        const auto begin = pixels.begin() + static_cast<std::ptrdiff_t>(first * kSide * kSide);
        return Tensor::of<float>({static_cast<std::int64_t>(count), 1, kSide, kSide},
                                 std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count * kSide * kSide)));
    }
};

/// test/drawn.txt, drawn as it says.
Pictures drawnDigits() {
    Pictures all;
    for (const QString& line : linesOf("digits/test/drawn.txt")) {
        all.digits.push_back(line.section(u':', 0, 0).toInt());
        std::vector<double> nearest(kSide * kSide, 1e9);
        for (const QString& stroke : line.section(u':', 1).split(u';')) {
            std::vector<QPointF> points;
            for (const QString& point : stroke.split(u' ', Qt::SkipEmptyParts))
                points.emplace_back(QPointF(point.section(u',', 0, 0).toDouble(), point.section(u',', 1).toDouble()) *
                                    kSide / 100);
            for (std::size_t i = 0; i + 1 < points.size(); ++i) {
                const QPointF along = points[i + 1] - points[i];
                for (int at = 0; at < kSide * kSide; ++at) {
                    const QPointF from = QPointF(at % kSide + 0.5, at / kSide + 0.5) - points[i];
                    const double part =
                        std::clamp(QPointF::dotProduct(from, along) / QPointF::dotProduct(along, along), 0.0, 1.0);
                    const QPointF off = from - part * along;
                    auto& distance = nearest[static_cast<std::size_t>(at)];
                    distance = std::min(distance, std::hypot(off.x(), off.y()));
                }
            }
        }
        for (const double distance : nearest)
            all.pixels.push_back(static_cast<float>(std::clamp(0.5 + 1.1 - distance, 0.0, 1.0)));
    }
    return all;
}

/// scikit-learn's digits, counts of 0 to 16 in 8 x 8: bilinear to 20 x 20, and 4 pixels around.
Pictures uciDigits() {
    constexpr int kColumns = 60, kCounts = 8, kLarge = 20, kMargin = 4, kStored = 15;
    const io::Image sheet = io::readImage(samplePath("digits/test/uci-digits.png").toStdString()).value();
    Pictures all;
    for (const QChar digit : linesOf("digits/test/uci-digits.txt").join(QString()))
        all.digits.push_back(digit.digitValue());
    for (int i = 0; i < static_cast<int>(all.digits.size()); ++i) {
        const int left = i % kColumns * kCounts, top = i / kColumns * kCounts;
        const auto count = [&](int y, int x) {
            return sheet.rgb[static_cast<std::size_t>(((top + y) * sheet.width + left + x) * 3)] / (16.0 * kStored);
        };
        const auto place = [](int at) { return std::max((at + 0.5) * kCounts / kLarge - 0.5, 0.0); };
        for (int y = -kMargin; y < kLarge + kMargin; ++y) {
            for (int x = -kMargin; x < kLarge + kMargin; ++x) {
                const bool isInside = x >= 0 && y >= 0 && x < kLarge && y < kLarge;
                const double py = place(std::max(y, 0)), px = place(std::max(x, 0));
                const int y0 = std::min(static_cast<int>(py), kCounts - 1),
                          x0 = std::min(static_cast<int>(px), kCounts - 1);
                const int y1 = std::min(y0 + 1, kCounts - 1), x1 = std::min(x0 + 1, kCounts - 1);
                const double upper = std::lerp(count(y0, x0), count(y0, x1), px - x0);
                const double lower = std::lerp(count(y1, x0), count(y1, x1), px - x0);
                all.pixels.push_back(isInside ? static_cast<float>(std::lerp(upper, lower, py - y0)) : 0);
            }
        }
    }
    return all;
}

int largestOf(const float* values, int count) {
    return static_cast<int>(std::max_element(values, values + count) - values);
}

int rightOnes(Model& model, const Pictures& pictures) {
    const Tensor logits = model.output({pictures.tensor(0, pictures.digits.size())});
    int right = 0;
    for (std::size_t i = 0; i < pictures.digits.size(); ++i)
        right += largestOf(logits.data<float>() + i * 10, 10) == pictures.digits[i];
    return right;
}

/// The ids of a text of single characters.
Value idsOf(const io::Vocabulary& vocabulary, const QString& text) {
    std::vector<std::int64_t> ids;
    for (const QChar c : text) ids.push_back(vocabulary.id(QString(c).toStdString()).value());
    return Tensor::of<std::int64_t>({1, static_cast<std::int64_t>(ids.size())}, ids);
}

/// The numbers of a line behind its first word agree with the last row of logits.
void compareWithLine(const Tensor& logits, const QStringList& words) {
    const auto count = words.size() - 1;
    const float* const row = logits.data<float>() + logits.numel() - count;
    double largest = 0;
    for (qsizetype i = 0; i < count; ++i) largest = std::max(largest, std::abs(words[i + 1].toDouble()));
    for (qsizetype i = 0; i < count; ++i)
        QVERIFY2(
            std::abs(static_cast<double>(row[i]) - words[i + 1].toDouble()) <= 1e-4 * largest,
            qPrintable(QStringLiteral("%1: logit %2 is %3").arg(words[0]).arg(i).arg(static_cast<double>(row[i]))));
}

}  // namespace

class TestTrainedSamples : public QObject {
    Q_OBJECT

  private slots:
    void theNewModelsAreSmall() {
        const qint64 digits = QFileInfo(samplePath("digits/digits.onnx")).size();
        const qint64 words = QFileInfo(samplePath("words/words.onnx")).size();
        QVERIFY(digits > 0 && words > 0);
        QVERIFY(digits < 250'000);
        QVERIFY(digits + words <= 1'000'000);
    }

    void digitsOfScikitLearn() {
        const Pictures pictures = uciDigits();
        QCOMPARE(pictures.digits.size(), std::size_t{1797});
        Model model("digits/digits.onnx");
        const int right = rightOnes(model, pictures);
        const double claim = claimed("digits/README.md", R"(\| (\d+) of 1797 )");
        QVERIFY2(claim >= 0.95 * 1797, "at least 95 % are claimed");
        QVERIFY2(right >= claim, qPrintable(QString::number(right)));
    }

    void digitsDrawnByHand() {
        const Pictures pictures = drawnDigits();
        QCOMPARE(pictures.digits.size(), std::size_t{100});
        for (int digit = 0; digit < 10; ++digit) QCOMPARE(std::ranges::count(pictures.digits, digit), 10);
        Model model("digits/digits.onnx");
        const int right = rightOnes(model, pictures);
        const double claim = claimed("digits/README.md", R"(\| (\d+) of 100 )");
        QVERIFY2(claim >= 95, "at least 95 % are claimed");
        QVERIFY2(right >= claim, qPrintable(QString::number(right)));
    }

    void digitsAreThoseOfPyTorch() {
        const Pictures pictures = drawnDigits();
        Model model("digits/digits.onnx");
        const QStringList lines = linesOf("digits/test/logits.txt");
        QCOMPARE(lines.size(), 10);
        for (const QString& line : lines) {
            const QStringList words = line.split(u' ');
            QCOMPARE(words.size(), 11);
            compareWithLine(model.output({pictures.tensor(words[0].toULongLong(), 1)}), words);
        }
    }

    /// What the start page opens: the picture is a three, and that is its name.
    void theSamplePictureIsAThree() {
        Model model("digits/digits.onnx");
        io::InputOptions options;
        options.image = io::findImagePreset("unit")->options;
        const auto cases = io::makeInputs(samplePath("digits/three.png").toStdString(),
                                          document::inputInfos(*model.document), options);
        QVERIFY2(cases, cases ? "" : cases.error().text().c_str());
        const Tensor logits = model.output(cases->front().values);
        const auto labels = session::outputs::labelsBeside(*model.document);
        QVERIFY(labels);
        QCOMPARE(session::outputs::readLabels(*labels)
                     .value()[static_cast<std::size_t>(largestOf(logits.data<float>(), 10))],
                 std::string("three"));
    }

    /// After each letter of a word that is held out of training: the next letter, or the end.
    void wordsAreCompleted() {
        Model model("words/words.onnx");
        const auto path = session::outputs::vocabularyBeside(*model.document);
        QVERIFY(path);
        const io::Vocabulary vocabulary = io::Vocabulary::read(*path).value();
        QCOMPARE(vocabulary.size(), std::size_t{27});
        const QStringList words = linesOf("words/test/held-out.txt");
        QCOMPARE(words.size(), 500);
        int right = 0, count = 0;
        double loss = 0;
        for (const QString& word : words) {
            const Tensor logits = model.output({idsOf(vocabulary, word)});
            for (qsizetype i = 0; i < word.size(); ++i, ++count) {
                const float* const row = logits.data<float>() + i * 27;
                const QString next = i + 1 < word.size() ? word.mid(i + 1, 1) : QStringLiteral(".");
                const auto id = vocabulary.id(next.toStdString()).value();
                right += largestOf(row, 27) == id;
                double sum = 0;
                for (int k = 0; k < 27; ++k) sum += std::exp(static_cast<double>(row[k] - row[id]));
                loss += std::log(sum);
            }
        }
        const double top1 = 100.0 * right / count, perplexity = std::exp(loss / count);
        const double top1Claim = claimed("words/README.md", R"(right in ([\d.]+) %)");
        const double perplexityClaim = claimed("words/README.md", R"(perplexity ([\d.]+))");
        QVERIFY(top1Claim > 0 && perplexityClaim > 0);
        QVERIFY2(top1 >= top1Claim - 0.05, qPrintable(QString::number(top1)));
        QVERIFY2(perplexity <= perplexityClaim + 0.005, qPrintable(QString::number(perplexity)));
    }

    void wordsAreThoseOfPyTorch() {
        Model model("words/words.onnx");
        const auto path = session::outputs::vocabularyBeside(*model.document);
        const io::Vocabulary vocabulary = io::Vocabulary::read(*path).value();
        const QStringList lines = linesOf("words/test/logits.txt");
        QVERIFY(lines.size() >= 5);
        for (const QString& line : lines) {
            const QStringList words = line.split(u' ');
            QCOMPARE(words.size(), 28);
            compareWithLine(model.output({idsOf(vocabulary, words[0])}), words);
        }
    }

    /// The weights of attention can be watched in each block, and no position looks at what comes later.
    void attentionIsVisible() {
        Model model("words/words.onnx");
        const io::Vocabulary vocabulary =
            io::Vocabulary::read(*session::outputs::vocabularyBeside(*model.document)).value();
        PlanOptions all;
        all.watchAll = true;
        const Recording recording = model.run({idsOf(vocabulary, QStringLiteral("inter"))}, all);
        int found = 0;
        const graph::InternalGraph& graph = *model.document->graph;
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
            const graph::NodeId node(i);
            if (graph.expr(graph.node(node).producer).op.name != "Softmax") continue;
            const Value* const value = recording.value(node, 0);
            QVERIFY(value && value->isTensor());
            QCOMPARE(value->tensor().shape(), (Shape{1, 4, 5, 5}));
            const Tensor weights = value->tensor().contiguous().value();
            for (std::int64_t row = 0; row < 20; ++row)
                for (std::int64_t column = row % 5 + 1; column < 5; ++column)
                    QCOMPARE(weights.data<float>()[row * 5 + column], 0.0F);
            ++found;
        }
        QCOMPARE(found, 2);
    }

    /// Frame by frame, with the state of the frame before, as Silero's own code does: 512 samples and the last 64 of
    /// the frame before. make_voice.py writes 8,000 samples of silence at both ends.
    void theVoiceIsHeard() {
        Model model("voice/silero_vad_v5.onnx");
        io::InputInfo info = document::inputInfos(*model.document).front();
        const auto sound = io::makeInput(samplePath("voice/voice.wav").toStdString(), info, 0);
        QVERIFY2(sound, sound ? "" : sound.error().text().c_str());
        const Tensor samples = sound->tensor().contiguous().value();
        Value state = Tensor::zeros(tensor::DType::Float32, {2, 1, 128}).value();
        int frames = 0, right = 0;
        for (std::int64_t first = 0; first + 512 <= samples.numel(); first += 512) {
            std::vector<float> frame;
            for (std::int64_t at = first - 64; at < first + 512; ++at)
                frame.push_back(at < 0 ? 0 : samples.data<float>()[at]);
            const Recording recording =
                model.run({Tensor::of<float>({1, 576}, frame), state, Tensor::of<std::int64_t>({}, {16000})});
            state = recording.outputs.at(1);
            const bool isSilent = first + 512 <= 8000 || first >= samples.numel() - 8000;
            if (!isSilent && (first < 8000 || first + 512 > samples.numel() - 8000)) continue;  // a part of both
            ++frames;
            right += (recording.outputs.at(0).tensor().toDouble(0) > 0.5) == !isSilent;
        }
        const double claim = claimed("voice/README.md", R"((\d+) of 62 frames)");
        QVERIFY(claim > 50);
        QCOMPARE(frames, 62);
        QVERIFY2(right >= claim, qPrintable(QString::number(right)));
    }
};

QTEST_GUILESS_MAIN(TestTrainedSamples)

}  // namespace tst_trained_samples

#include "tst_trained_samples.moc"
