// Text typed as the input of a model in the window: its tokens, what goes with it, runs, and what is remembered.

#include <QComboBox>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QToolButton>

#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"

namespace tst_typed_text {

using namespace sonde;
using context::ModelInput;

class TestTypedText : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void aTextIsTypedAndItsTokensAreShown();
    void theTokenizerIsChosenInADialog();
    void liveRunsWhileATextIsTyped();
    void textAndTokenizerAreRemembered();
    void droppedFilesAreTokenizersOrTexts();
    void onlyInputsForIdsAreOfferedText();
    void everyPartIsReachedByKeys();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    static void write(const QString& name, const QByteArray& content) {
        QFile file(name);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    QFrame* editor(const char* input) {
        m_window->docks().show(QStringLiteral("inputs"));
        QCoreApplication::processEvents();
        return m_window->findChild<QFrame*>(QStringLiteral("input.") + QLatin1String(input));
    }
    QString stateOf(const char* input) {
        QString text;
        for (const QLabel* label : editor(input)->findChildren<QLabel*>())
            if (label->isVisible() && label->wordWrap()) text = label->text();
        return text.replace(QChar::Nbsp, QLatin1Char(' '));  // between an id and its token
    }
    const ModelInput& given(const char* input) { return *context().inputs().find(QLatin1String(input)); }
    void choose(const char* input, const char* mode) {
        auto* box = editor(input)->findChild<QComboBox*>();
        const int index = box->findText(QLatin1String(mode));
        QVERIFY2(index >= 0, mode);
        box->setFocus();
        box->setCurrentIndex(index);
        Q_EMIT box->activated(index);
        settle();
    }
    QLineEdit* textField(const char* input) {
        for (QLineEdit* edit : editor(input)->findChildren<QLineEdit*>(QString(), Qt::FindDirectChildrenOnly))
            if (edit->isVisible()) return edit;
        return nullptr;
    }
    QLineEdit* tokenizerField(const char* input) {
        return editor(input)->findChild<QLineEdit*>(QStringLiteral("tokenizer"));
    }
    void type(QLineEdit* field, const QString& text, bool isConfirmed = true) {
        field->setFocus();
        QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(field, Qt::Key_Delete);
        QTest::keyClicks(field, text);
        if (isConfirmed) QTest::keyClick(field, Qt::Key_Return);
        settle();
    }
    std::vector<std::int64_t> sums() {
        std::vector<std::int64_t> all;
        const auto& tensor = context().runs().recording()->outputs.front().tensor();
        for (std::int64_t i = 0; i < tensor.numel(); ++i) all.push_back(tensor.toInt64(i));
        return all;
    }

    QTemporaryDir m_folder;
    QString m_model;  ///< y = input_ids + attention_mask, int64[N,N]; z = scale, float32[N,N]
};

void TestTypedText::initTestCase() {
    prepare();
    using namespace test::onnxfile;
    constexpr int kFloat = 1, kInt64 = 7;
    QDir(m_folder.path()).mkdir(QStringLiteral("model"));
    m_model = path("model/model.onnx");
    Graph graph;
    graph.nodes = {Node{"Add", {"input_ids", "attention_mask"}, {"y"}}, Node{"Identity", {"scale"}, {"z"}}};
    graph.inputs = {valueInfo("input_ids", kInt64, {1, -1}), valueInfo("attention_mask", kInt64, {1, -1}),
                    valueInfo("scale", kFloat, {1, 2})};
    graph.outputs = {valueInfo("y", kInt64, {1, -1}), valueInfo("z", kFloat, {1, 2})};
    QVERIFY(test::onnxfile::write(m_model, test::onnxfile::model(graph)));
    write(path("words.txt"), "<pad>\n<unk>\nhello\nworld\n;\n");
}

void TestTypedText::aTextIsTypedAndItsTokensAreShown() {
    write(path("model/vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\nworld\n##s\n");
    open(m_model);
    choose("input_ids", "Text");
    // The vocabulary beside the model is taken.
    QCOMPARE(tokenizerField("input_ids")->text(), path("model/vocab.txt"));
    QVERIFY2(stateOf("input_ids")
                 .startsWith(QStringLiteral("4 tokens (WordPiece, lower case): 2 [CLS] · 4 hello · 5 world · 3 [SEP]")),
             qPrintable(stateOf("input_ids")));
    type(textField("input_ids"), QStringLiteral("Hello; 'worlds'"));
    QVERIFY2(stateOf("input_ids").contains(QStringLiteral("4 hello · 1 [UNK] · 1 [UNK] · 5 world · 6 ##s · 1 [UNK]")),
             qPrintable(stateOf("input_ids")));
    QCOMPARE(textField("input_ids")->text(), QStringLiteral("Hello; 'worlds'"));
    // The mask goes with it, until somebody chooses another one.
    QCOMPARE(given("attention_mask").value->typeText(), std::string("int64[1,8]"));
    QVERIFY(stateOf("attention_mask").contains(QStringLiteral("attention_mask is that of the text: 8 tokens")));
    run();
    QCOMPARE(sums(), (std::vector<std::int64_t>{3, 5, 2, 2, 6, 7, 2, 4}));
    type(tokenizerField("input_ids"), path("words.txt") + QStringLiteral(",6"));
    QVERIFY2(stateOf("input_ids").contains(QStringLiteral("padded to 6 with 0 <pad>")) ||
                 stateOf("input_ids").contains(QStringLiteral("2 hello · 4 ;")),
             qPrintable(stateOf("input_ids")));
    run();
    QCOMPARE(sums().size(), std::size_t{6});
    // No such tokenizer: said at the input.
    type(tokenizerField("input_ids"), path("none.json"));
    QVERIFY2(stateOf("input_ids").contains(QStringLiteral("no such file")), qPrintable(stateOf("input_ids")));
    QFile::remove(path("model/vocab.txt"));
}

void TestTypedText::theTokenizerIsChosenInADialog() {
    open(m_model);
    choose("input_ids", "Text");
    const QWidget* const focused = qApp->focusWidget();  // showing the panel takes it away
    QCOMPARE(focused, tokenizerField("input_ids"));
    QVERIFY2(stateOf("input_ids").contains(QStringLiteral("a text needs the file of its tokenizer")),
             qPrintable(stateOf("input_ids")));
    auto* row = tokenizerField("input_ids")->parentWidget();
    QTest::mouseClick(row->findChild<QToolButton*>(), Qt::LeftButton);
    auto* dialog = m_window->findChild<QFileDialog*>();
    QVERIFY(dialog);
    Q_EMIT dialog->fileSelected(path("words.txt"));
    dialog->close();
    settle();
    QCOMPARE(tokenizerField("input_ids")->text(), path("words.txt"));
    QVERIFY2(stateOf("input_ids").startsWith(QStringLiteral("2 tokens (words, lower case): 2 hello · 3 world")),
             qPrintable(stateOf("input_ids")));
}

void TestTypedText::liveRunsWhileATextIsTyped() {
    open(m_model);
    choose("input_ids", "Text");
    type(tokenizerField("input_ids"), path("words.txt"));
    run();
    context().runs().setLive(true);
    settle();
    type(textField("input_ids"), QStringLiteral("world hello world"), false);
    QTRY_COMPARE_WITH_TIMEOUT(sums(), (std::vector<std::int64_t>{4, 3, 4}), 30000);
    QCOMPARE(textField("input_ids")->text(), QStringLiteral("world hello world"));
    context().runs().setLive(false);
}

void TestTypedText::textAndTokenizerAreRemembered() {
    open(m_model);
    choose("input_ids", "Text");
    type(tokenizerField("input_ids"), path("words.txt") + QStringLiteral(",4"));
    type(textField("input_ids"), QStringLiteral("it's ; hello\\"));
    QVERIFY(context().inputs().inputData().contains(QStringLiteral("input_ids:'it\\'s \\x3b hello\\\\'#")));
    closeWindow();
    openWindow();
    open(m_model);
    QCOMPARE(textField("input_ids")->text(), QStringLiteral("it's ; hello\\"));
    QCOMPARE(tokenizerField("input_ids")->text(), path("words.txt") + QStringLiteral(",4"));
    run();
    QVERIFY2(given("attention_mask").value.has_value(), qPrintable(stateOf("attention_mask")));
    QCOMPARE(given("attention_mask").value->typeText(), std::string("int64[1,4]"));
    type(textField("input_ids"), QStringLiteral("hello"));
    type(tokenizerField("input_ids"), path("words.txt"));
    QCOMPARE(given("attention_mask").value->typeText(), std::string("int64[1,1]"));
    // Another source, and back.
    choose("input_ids", "Zeros");
    QVERIFY(!tokenizerField("input_ids")->isVisible());
    QVERIFY(!stateOf("attention_mask").contains(QStringLiteral("of the text")));
}

void TestTypedText::droppedFilesAreTokenizersOrTexts() {
    write(path("prompt.txt"), "world\n");
    open(m_model);
    choose("input_ids", "Text");
    const auto drop = [this](const QString& file) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file)});
        QFrame* const on = editor("input_ids");
        QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(on, &enter);
        QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(on, &event);
        settle();
    };
    drop(path("words.txt"));
    QCOMPARE(tokenizerField("input_ids")->text(), path("words.txt"));
    drop(path("prompt.txt"));
    QCOMPARE(given("input_ids").spec.source, path("prompt.txt") + QLatin1Char('#') + path("words.txt"));
    QVERIFY2(stateOf("input_ids").contains(QStringLiteral("1 token (words, lower case): 3 world")),
             qPrintable(stateOf("input_ids")));
    QCOMPARE(editor("input_ids")->findChild<QComboBox*>()->currentText(), QStringLiteral("File"));
}

void TestTypedText::onlyInputsForIdsAreOfferedText() {
    open(m_model);
    QVERIFY(editor("input_ids")->findChild<QComboBox*>()->findText(QStringLiteral("Text")) >= 0);
    QVERIFY(editor("scale")->findChild<QComboBox*>()->findText(QStringLiteral("Text")) < 0);
    QVERIFY(editor("scale")->findChild<QComboBox*>()->findText(QStringLiteral("No value")) >= 0);
}

void TestTypedText::everyPartIsReachedByKeys() {
    open(m_model);
    choose("input_ids", "Text");
    type(tokenizerField("input_ids"), path("words.txt"));
    textField("input_ids")->setFocus();
    QStringList names;
    for (int i = 0; i < 3; ++i) {
        names << qApp->focusWidget()->accessibleName();
        QTest::keyClick(qApp->focusWidget(), Qt::Key_Tab);
    }
    QVERIFY2(names.contains(QStringLiteral("Tokenizer of input input_ids")), qPrintable(names.join(QLatin1Char('\n'))));
}

QTEST_MAIN(TestTypedText)

}  // namespace tst_typed_text

#include "tst_typed_text.moc"
