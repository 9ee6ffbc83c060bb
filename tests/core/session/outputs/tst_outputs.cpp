// Outputs in the forms that suit them. Values are written here, and what becomes of them was computed by hand.

#include <QtTest>

#include <cmath>

#include "core/session/outputs/show_outputs.h"

namespace tst_outputs {

using namespace sonde;
using namespace sonde::session::outputs;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

Tensor filled(Shape shape, double (*at)(std::int64_t), DType dtype = DType::Float32) {
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = at(static_cast<std::int64_t>(i));
    return Tensor::of<double>(std::move(shape), values).cast(dtype).value();
}
double wave(std::int64_t i) { return std::sin(static_cast<double>(i)); }
double ramp(std::int64_t i) { return static_cast<double>(i % 17); }
double part(std::int64_t i) { return static_cast<double>(i % 10) / 10; }
double binary(std::int64_t i) { return static_cast<double>(i % 2); }

/// A model about which nothing is known but its outputs.
struct Asked {
    ShowRequest request;

    explicit Asked(const std::string& location = "net.onnx") {
        auto document = std::make_shared<document::Document>();
        document->location = location;
        request.document = document;
        request.origin = location.starts_with("zoo:") ? WeightOrigin::Random : WeightOrigin::Unknown;
    }
    Asked& input(const std::string& name, Tensor tensor) {
        request.inputs.push_back({name, std::move(tensor), {}, 0});
        return *this;
    }
    Asked& output(const std::string& name, tensor::Value value) {
        request.names.emplace_back(name, graph::NodeId());
        request.values.push_back(std::move(value));
        return *this;
    }
    Asked& choose(const std::string& text) {
        request.choices.push_back(parseChoice(text).value());
        if (request.choices.back().output.empty()) request.choices.back().output = request.names.front().first;
        return *this;
    }
    ShownOutput first() const { return showOutputs(request).value().outputs.front(); }
};

Tensor picture() { return filled({1, 3, 32, 32}, part); }

/// A file with this content, in a folder that goes.
struct TextFile {
    QTemporaryDir folder;
    std::string path;

    explicit TextFile(const QByteArray& text) : path(folder.filePath(QStringLiteral("names.txt")).toStdString()) {
        QFile file(QString::fromStdString(path));
        if (file.open(QIODevice::WriteOnly)) file.write(text);
    }
};

}  // namespace

class TestOutputs : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void bestForm_data();
    void bestForm();
    void classesHaveShares();
    void textSaysWhichSampleItIsOf();
    void classesTellScales_data();
    void classesTellScales();
    void labelsName();
    void randomWeightsHaveNoNames();
    void textOfLogits();
    void textHasTheTokensOfTheInput();
    void scoresAreSeenWithTheirBoxes();
    void boxesByLayout_data();
    void boxesByLayout();
    void boxesWithScoresApart();
    void boxesRefuse_data();
    void boxesRefuse();
    void masks();
    void imageRange();
    void waveAndTable();
};

void TestOutputs::bestForm_data() {
    QTest::addColumn<Asked>("asked");
    QTest::addColumn<QString>("form");
    const auto row = [](const char* name, const Asked& asked, const char* form) {
        QTest::newRow(name) << asked << QString::fromLatin1(form);
    };
    row("logits", Asked().input("x", picture()).output("y", filled({1, 1000}, wave)), "classes");
    row("vector", Asked().input("x", picture()).output("y", filled({10}, wave)), "classes");
    row("classifier with 1x1 maps", Asked().input("x", picture()).output("y", filled({1, 10, 1, 1}, wave)), "classes");
    row("a number", Asked().input("x", picture()).output("y", filled({1, 1}, part)), "scalar");
    row("a number of each sample", Asked().input("x", filled({8, 4}, part)).output("y", filled({8}, wave)), "table");
    row("embedding", Asked().input("x", picture()).output("embedding", filled({1, 512}, wave)), "table");
    row("autoencoder", Asked().input("x", filled({1, 1, 28, 28}, part)).output("y", filled({1, 1, 28, 28}, part)),
        "image");
    row("picture", Asked().input("x", filled({1, 3, 16, 16}, part)).output("y", filled({1, 3, 64, 64}, part)), "image");
    row("segmentation", Asked().input("x", picture()).output("y", filled({1, 5, 32, 32}, wave)), "masks");
    row("one mask", Asked().input("x", picture()).output("y", filled({1, 1, 32, 32}, part)), "masks");
    row("class map", Asked().input("x", picture()).output("y", filled({1, 32, 32}, ramp, DType::Int64)), "masks");
    row("feature maps", Asked().input("x", picture()).output("y", filled({1, 64, 8, 8}, wave)), "table");
    row("detections", Asked().input("x", picture()).output("y", filled({1, 12, 6}, part)), "boxes");
    row("named boxes", Asked().input("x", picture()).output("boxes", filled({7, 4}, ramp)), "boxes");
    row("raw head", Asked().input("x", picture()).output("y", filled({1, 9, 336}, part)), "boxes");
    row("hidden states",
        Asked().input("ids", filled({1, 6}, ramp, DType::Int64)).output("hidden", filled({1, 6, 48}, wave)), "table");
    row("language", Asked().input("ids", filled({1, 6}, ramp, DType::Int64)).output("y", filled({1, 6, 50}, wave)),
        "text");
    row("token ids",
        Asked().input("ids", filled({1, 6}, ramp, DType::Int64)).output("y", filled({1, 9}, ramp, DType::Int64)),
        "text");
    row("signal", Asked().input("x", filled({1, 16000}, wave)).output("y", filled({1, 1, 16000}, wave)), "waveform");
    row("list", Asked().input("x", picture()).output("y", tensor::Value::list({tensor::Value::ofInt(1)})), "table");
    row("int", Asked().input("x", picture()).output("y", tensor::Value::ofInt(7)), "scalar");
    row("empty", Asked().input("x", picture()).output("boxes", filled({0, 4}, part)), "table");
}

void TestOutputs::bestForm() {
    QFETCH(const Asked, asked);
    QFETCH(const QString, form);
    const ShownOutput shown = asked.first();
    QCOMPARE(QString::fromStdString(std::string(shown.form->id)), form);
    QVERIFY2(!shown.error, shown.error ? shown.error->text().c_str() : "");
    QVERIFY(!textLines(shown).empty());
    // Everything that is offered can be shown, or says why not.
    for (const Form* other : shown.forms) {
        Asked again = asked;
        const ShownOutput chosen = again.choose(std::string(other->id)).first();
        QCOMPARE(chosen.form->id, other->id);
        QVERIFY(!textLines(chosen).empty());
    }
}

void TestOutputs::classesHaveShares() {
    // e^1, e^2, e^3 are 2.71828, 7.38906, 20.0855: of their sum 0.0900, 0.2447, 0.6652.
    const ShownOutput shown = Asked().output("y", Tensor::of<float>({1, 3}, {1, 2, 3})).choose("classes:top=2").first();
    const auto& classes = std::get<Classes>(shown.content);
    QCOMPARE(classes.top.size(), std::size_t{2});
    QCOMPARE(classes.top[0].index, std::int64_t{2});
    QVERIFY(std::abs(classes.top[0].share - 0.66524) < 1e-4);
    QVERIFY(std::abs(classes.top[1].share - 0.24473) < 1e-4);
    QCOMPARE(textLines(shown).front(), std::string("2  66.5 %  3  class 2"));
    // The second of two samples, with a NaN that is never the largest.
    const ShownOutput other =
        Asked().output("y", Tensor::of<float>({2, 3}, {9, 9, 9, NAN, 5, 4})).choose("classes:sample=1").first();
    QCOMPARE(std::get<Classes>(other.content).top.front().index, std::int64_t{1});
    QCOMPARE(std::get<Classes>(other.content).top.size(), std::size_t{2});
    QCOMPARE(other.samples, std::int64_t{2});
    QCOMPARE(other.notes.size(), std::size_t{1});
}

void TestOutputs::textSaysWhichSampleItIsOf() {
    const Tensor batch = Tensor::of<float>({3, 3}, {5, 1, 0, 1, 5, 0, 0, 1, 5});
    const auto lines = [&](const char* choice) { return textLines(Asked().output("y", batch).choose(choice).first()); };
    QCOMPARE(lines("classes").back(),
             std::string("note: sample 0 is shown, of 3, 0 to 2; classes:sample=N shows another"));
    QCOMPARE(lines("classes:sample=2").back(),
             std::string("note: sample 2 is shown, of 3, 0 to 2; classes:sample=N shows another"));
    const auto behind = lines("classes:sample=9");
    QVERIFY(behind.front().starts_with("2 "));
    QCOMPARE(behind.back(), std::string("note: there is no sample 9: sample 2 is shown, of 3, 0 to 2"));
    for (const std::string& line : textLines(Asked().output("y", batch.sliced(0, 0, 1)).choose("classes").first()))
        QVERIFY2(line.find("sample") == std::string::npos, line.c_str());
    for (const std::string& line : lines("table")) QVERIFY2(line.find("sample") == std::string::npos, line.c_str());
}

void TestOutputs::classesTellScales_data() {
    QTest::addColumn<QList<float>>("values");
    QTest::addColumn<bool>("hasShares");
    QTest::addColumn<double>("first");
    QTest::newRow("probabilities") << QList<float>{0.2F, 0.5F, 0.3F} << true << 0.5;
    QTest::newRow("log-probabilities") << QList<float>{-1.60944F, -0.69315F, -1.20397F} << true << 0.5;
    QTest::newRow("many labels") << QList<float>{0.9F, 0.95F, 0.1F} << false << 0.0;
    QTest::newRow("many labels, one NaN") << QList<float>{0.9F, NAN, 1} << false << 0.0;
    QTest::newRow("logits, one NaN") << QList<float>{2, NAN, 2} << true << 0.5;
    QTest::newRow("logits") << QList<float>{0, 0, -40} << true << 0.5;
}

void TestOutputs::classesTellScales() {
    QFETCH(const QList<float>, values);
    QFETCH(const bool, hasShares);
    QFETCH(const double, first);
    const ShownOutput shown =
        Asked().output("y", Tensor::of<float>({1, 3}, {values[0], values[1], values[2]})).choose("classes").first();
    const auto& classes = std::get<Classes>(shown.content);
    QCOMPARE(classes.hasShares, hasShares);
    QVERIFY(std::abs(classes.top.front().share - first) < 1e-3);
}

void TestOutputs::labelsName() {
    const TextFile names("cat \n dog\r\nbird\n\n");
    Asked asked;
    asked.output("y", Tensor::of<float>({1, 3}, {1, 2, 0})).choose("classes");
    asked.request.choices.front().labels = names.path;
    const ShownOutput shown = asked.first();
    QCOMPARE(std::get<Classes>(shown.content).top[0].name, std::string("dog"));
    QVERIFY(shown.notes.empty());

    Asked four;
    four.output("y", Tensor::of<float>({1, 4}, {1, 2, 0, 0})).choose("classes");
    four.request.choices.front().labels = names.path;
    const ShownOutput mismatch = four.first();
    QCOMPARE(std::get<Classes>(mismatch.content).top[0].name, std::string());
    QCOMPARE(mismatch.notes.front(), std::string("the labels file has 3 names for 4 classes: none is shown"));

    four.request.choices.front().labels = names.path + ".gone";
    QCOMPARE(four.first().notes.size(), std::size_t{1});
    QVERIFY(!four.first().error);
}

void TestOutputs::randomWeightsHaveNoNames() {
    const TextFile names("cat\ndog\n");
    Asked asked("zoo:resnet18");
    asked.output("y", Tensor::of<float>({1, 2}, {1, 2})).choose("classes");
    asked.request.choices.front().labels = names.path;
    const ShownOutput shown = asked.first();
    QVERIFY(shown.isRandom);
    QCOMPARE(std::get<Classes>(shown.content).top[0].name, std::string());
    QVERIFY(QString::fromStdString(shown.notes.front()).startsWith(QLatin1String("random weights")));
}

void TestOutputs::textOfLogits() {
    const TextFile tokens("<pad>\nthe\ncat\nsat\n");
    Asked asked;
    asked.input("ids", Tensor::of<std::int64_t>({1, 2}, {1, 2}));
    asked.output("y", Tensor::of<float>({1, 2, 4}, {0, 0, 9, 0, 0, 0, 0, 9})).choose("text:top=2");
    asked.request.choices.front().vocabulary = tokens.path;
    const auto text = std::get<TokenText>(asked.first().content);
    QCOMPARE(text.text, std::string("cat sat"));
    QCOMPARE(text.next.size(), std::size_t{2});
    QCOMPARE(text.next[0].text, std::string("sat"));
    // e^9 = 8103.08 of 8106.08.
    QVERIFY(std::abs(text.next[0].share - 0.99963) < 1e-4);
    asked.request.choices.front().vocabulary.clear();
    QCOMPARE(std::get<TokenText>(asked.first().content).tokens[0].id, std::int64_t{2});
}

/// The tokenizer that the input's text was given with counts; what somebody chose counts more.
void TestOutputs::textHasTheTokensOfTheInput() {
    const TextFile tokens("[PAD]\n[UNK]\nun\n##able\ncat\n"), others("a\nb\nc\nd\ne\n");
    Asked asked;
    asked.input("ids", Tensor::of<std::int64_t>({1, 2}, {2, 3}));
    asked.output("ids_out", Tensor::of<std::int64_t>({1, 3}, {2, 3, 4})).choose("text");
    asked.request.tokenItem = "'unable'#" + tokens.path;
    const ShownOutput shown = asked.first();
    QCOMPARE(std::get<TokenText>(shown.content).text, std::string("unable cat"));
    QCOMPARE(shown.choice.vocabulary, tokens.path);
    asked.request.choices.front().vocabulary = others.path;
    QCOMPARE(std::get<TokenText>(asked.first().content).tokens[0].text, std::string("c"));
    asked.request.choices.front().vocabulary.clear();
    // Logits of fewer tokens are not of this tokenizer.
    Asked other;
    other.input("ids", Tensor::of<std::int64_t>({1, 2}, {2, 3}));
    other.output("y", Tensor::of<float>({1, 2, 4}, {0, 0, 9, 0, 0, 0, 0, 9})).choose("text");
    other.request.tokenItem = asked.request.tokenItem;
    QCOMPARE(std::get<TokenText>(other.first().content).text, std::string());
    // A file of JSON is chosen like one of lines.
    const TextFile json("[\"the\", \"cat\", \"sat\", \"mat\"]");
    other.request.choices.front().vocabulary = json.path;
    QCOMPARE(std::get<TokenText>(other.first().content).text, std::string("sat mat"));
}

void TestOutputs::scoresAreSeenWithTheirBoxes() {
    Asked asked;
    asked.input("image", picture());
    asked.output("detection_scores", Tensor::of<float>({1, 3}, {0.9F, 0.7F, 0.1F}));
    asked.output("detection_classes", Tensor::of<float>({1, 3}, {2, 5, 1}));
    asked.output("detection_boxes", Tensor::of<float>({1, 3, 4}, {1, 2, 9, 8, 4, 4, 20, 24, 0, 0, 3, 3}));
    asked.output("num_detections", Tensor::of<float>({1}, {3}));
    const auto shown = showOutputs(asked.request).value().outputs;
    for (const std::size_t i : {0U, 1U, 2U}) {
        QCOMPARE(std::string(shown[i].form->id), std::string("boxes"));
        const auto& boxes = std::get<Boxes>(shown[i].content);
        QCOMPARE(boxes.boxes.size(), std::size_t{2});  // at least half sure
        QCOMPARE(boxes.boxes[0].index, std::int64_t{2});
        QVERIFY(std::abs(boxes.boxes[1].score - 0.7) < 1e-6);
        QCOMPARE(boxes.boxes[1].right, 20.0);
        QCOMPARE(shown[i].shownWith, i == 2 ? std::string() : std::string("detection_boxes"));
    }
    QCOMPARE(textLines(shown[0]), std::vector<std::string>{"shown with the boxes of 'detection_boxes'"});
    QVERIFY(shown[3].form->id != "boxes");
    // A classifier's are its own.
    Asked classifier;
    classifier.input("image", picture()).output("y", Tensor::of<float>({1, 3}, {0.9F, 0.7F, 0.1F}));
    QCOMPARE(std::string(classifier.first().form->id), std::string("classes"));
}

void TestOutputs::boxesByLayout_data() {
    QTest::addColumn<QList<float>>("numbers");
    QTest::addColumn<int>("columns");
    QTest::addColumn<QString>("choice");
    QTest::addColumn<QList<double>>("corners");
    QTest::addColumn<double>("score");
    QTest::addColumn<int>("index");
    // The input has 32 × 32 pixels.
    QTest::newRow("found: corners, score, class")
        << QList<float>{4, 8, 12, 24, 0.75F, 3} << 6 << "boxes" << QList<double>{4, 8, 12, 24} << 0.75 << 3;
    QTest::newRow("found: class before score")
        << QList<float>{4, 8, 12, 24, 3, 0.75F} << 6 << "boxes" << QList<double>{4, 8, 12, 24} << 0.75 << 3;
    QTest::newRow("normalised") << QList<float>{0.25F, 0.5F, 0.5F, 1, 0.75F} << 5 << "boxes"
                                << QList<double>{8, 16, 16, 32} << 0.75 << -1;
    QTest::newRow("pixels of small numbers")
        << QList<float>{0, 0, 1, 1, 0.75F} << 5 << "boxes:pixels" << QList<double>{0, 0, 1, 1} << 0.75 << -1;
    QTest::newRow("top first") << QList<float>{8, 4, 24, 12, 0.75F} << 5 << "boxes:yxyx" << QList<double>{4, 8, 12, 24}
                               << 0.75 << -1;
    QTest::newRow("corner and size") << QList<float>{4, 8, 8, 16, 0.75F} << 5 << "boxes:xywh"
                                     << QList<double>{4, 8, 12, 24} << 0.75 << -1;
    QTest::newRow("found: centre and size")
        << QList<float>{20, 16, 8, 16, 0.75F} << 5 << "boxes" << QList<double>{16, 8, 24, 24} << 0.75 << -1;
    QTest::newRow("score for each class")
        << QList<float>{4, 8, 12, 24, 0.75F, 0.1F, 0.8F} << 7 << "boxes" << QList<double>{4, 8, 12, 24} << 0.6 << 1;
    QTest::newRow("columns chosen") << QList<float>{9, 4, 8, 12, 24, 5, 0.9F} << 7 << "boxes:first=1,score=6,class=5"
                                    << QList<double>{4, 8, 12, 24} << 0.9 << 5;
    QTest::newRow("no score, no class") << QList<float>{4, 8, 12, 24, 0.1F} << 5 << "boxes:score=none"
                                        << QList<double>{4, 8, 12, 24} << std::nan("") << -1;
}

void TestOutputs::boxesByLayout() {
    QFETCH(const QList<float>, numbers);
    QFETCH(const int, columns);
    QFETCH(const QString, choice);
    QFETCH(const QList<double>, corners);
    QFETCH(const double, score);
    QFETCH(const int, index);
    const Tensor tensor = Tensor::of<float>({1, 1, columns}, std::vector<float>(numbers.begin(), numbers.end()));
    const ShownOutput shown = Asked().input("x", picture()).output("y", tensor).choose(choice.toStdString()).first();
    QVERIFY2(!shown.error, shown.error ? shown.error->text().c_str() : "");
    const auto& boxes = std::get<Boxes>(shown.content);
    QCOMPARE(boxes.boxes.size(), std::size_t{1});
    const Boxes::Box& box = boxes.boxes.front();
    QCOMPARE((QList<double>{box.left, box.top, box.right, box.bottom}), corners);
    QVERIFY(std::isnan(score) ? std::isnan(box.score) : std::abs(box.score - score) < 1e-6);
    QCOMPARE(box.index, std::int64_t{index});
    QCOMPARE(boxes.under.width, 32);
}

void TestOutputs::boxesWithScoresApart() {
    // Of a transposed head each column is a box: here 200 of them with two classes.
    std::vector<float> head(6 * 200, 0.1F);
    for (const auto& [row, value] : {std::pair{0, 16.F}, {1, 16.F}, {2, 8.F}, {3, 4.F}, {5, 0.9F}})
        head[static_cast<std::size_t>(row) * 200 + 7] = value;
    const ShownOutput raw =
        Asked().input("x", picture()).output("y", Tensor::of<float>({1, 6, 200}, head)).choose("boxes:cxcywh").first();
    const auto& found = std::get<Boxes>(raw.content);
    QCOMPARE(found.count, std::int64_t{200});
    QCOMPARE(found.passing, std::int64_t{1});
    QCOMPARE(found.boxes.front().index, std::int64_t{1});
    QCOMPARE(found.boxes.front().left, 12.0);
    QCOMPARE(found.boxes.front().bottom, 18.0);

    Asked apart;
    apart.input("x", picture()).output("boxes", Tensor::of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
    apart.output("labels", Tensor::of<std::int64_t>({2}, {11, 12}))
        .output("scores", Tensor::of<float>({2}, {0.6F, 0.9F}));
    const auto boxes = std::get<Boxes>(apart.first().content);
    QCOMPARE(boxes.boxes.size(), std::size_t{2});
    QCOMPARE(boxes.boxes[0].index, std::int64_t{12});  // the highest score first
    QCOMPARE(boxes.boxes[0].left, 5.0);
    apart.choose("boxes:threshold=0.8");
    QCOMPARE(std::get<Boxes>(apart.first().content).boxes.size(), std::size_t{1});
}

void TestOutputs::boxesRefuse_data() {
    QTest::addColumn<QString>("choice");
    QTest::addColumn<QString>("what");
    QTest::newRow("first") << "boxes:first=3"
                           << "first: boxes have 6 columns, of which four from 3 on are needed";
    QTest::newRow("column") << "boxes:score=6"
                            << "score: boxes have the columns 0 to 5, not 6";
    QTest::newRow("output") << "boxes:class=kind"
                            << "class: 'kind' is neither a column nor an output";
    QTest::newRow("count") << "boxes:class=other"
                           << "class: output 'other' has no number for each of the 2 boxes";
    QTest::newRow("form") << "waveform"
                          << "output 'y' does not fit the form 'waveform': it is float32[2,6]";
}

void TestOutputs::boxesRefuse() {
    QFETCH(const QString, choice);
    QFETCH(const QString, what);
    const ShownOutput shown = Asked()
                                  .output("y", filled({2, 6}, part))
                                  .output("other", filled({5}, part))
                                  .choose(choice.toStdString())
                                  .first();
    QVERIFY(shown.error);
    QCOMPARE(QString::fromStdString(shown.error->what), what);
}

void TestOutputs::masks() {
    // Class 1 is the largest in the upper half, class 2 below.
    std::vector<float> values(3 * 8 * 8, 0);
    for (std::size_t i = 0; i < 64; ++i) values[(i < 32 ? 64 : 128) + i] = 5;
    const auto masks = std::get<Masks>(Asked().output("mask", Tensor::of<float>({1, 3, 8, 8}, values)).first().content);
    QCOMPARE(masks.parts.size(), std::size_t{2});
    QCOMPARE(masks.classes.front(), std::uint16_t{1});
    QCOMPARE(masks.classes.back(), std::uint16_t{2});
    QCOMPARE(masks.parts[0].share, 0.5);
    QVERIFY(masks.under.rgb.empty());
    const auto one =
        std::get<Masks>(Asked().input("x", picture()).output("mask", filled({1, 1, 32, 32}, binary)).first().content);
    QCOMPARE(one.classes[0], Masks::kNone);
    QCOMPARE(one.classes[1], std::uint16_t{0});
    QCOMPARE(one.under.width, 32);
}

void TestOutputs::imageRange() {
    const auto pixel = [](float first, float other) {
        std::vector<float> values(64, other);
        values[0] = first;
        return std::get<ImagePixels>(
            Asked().output("image", Tensor::of<float>({1, 1, 8, 8}, values)).choose("image").first().content);
    };
    QCOMPARE(pixel(0.2F, 1).picture.rgb.front(), std::uint8_t{51});
    QCOMPARE(pixel(-1, 1).picture.rgb.front(), std::uint8_t{0});
    QCOMPARE(pixel(0, 1).picture.rgb.front(), std::uint8_t{0});
    QCOMPARE(pixel(51, 255).picture.rgb.front(), std::uint8_t{51});
    QCOMPARE(pixel(-30, 70).high, 70.0);
    QCOMPARE(pixel(NAN, 1).picture.rgb.front(), std::uint8_t{0});
}

void TestOutputs::waveAndTable() {
    const auto shown = Asked().input("x", filled({1, 300}, wave)).output("audio", filled({2, 300}, wave)).first();
    const auto& signal = std::get<Waveform>(shown.content);
    QCOMPARE(signal.samples.shape(), (Shape{1, 300}));
    QCOMPARE(shown.samples, std::int64_t{2});
    const auto table = std::get<Table>(Asked().output("y", filled({3, 300}, ramp)).choose("table").first().content);
    QCOMPARE(table.rowCount, std::int64_t{3});
    QCOMPARE(table.columnCount, std::int64_t{300});
    QCOMPARE(table.rows[1][0], std::string("[1]"));
    QCOMPARE(table.rows[1][1], std::string("11"));  // element 300 is 300 mod 17
    QCOMPARE(table.rows[1].size(), static_cast<std::size_t>(Table::kMaxColumns) + 1);
}

QTEST_GUILESS_MAIN(TestOutputs)

}  // namespace tst_outputs

#include "tst_outputs.moc"
