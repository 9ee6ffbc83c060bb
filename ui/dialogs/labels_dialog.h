#pragma once

#include <QDialog>

#include <functional>

#include "ui/context/label_rules.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPlainTextEdit;

namespace sonde::dialogs {

/// What is on the nodes: a list of rules, each for some operators, with the lines of their cards. An example of the
/// open model shows what comes out while one types.
class LabelsDialog : public QDialog {
    Q_OBJECT
  public:
    /// The lines of the example's card under some rules; empty: the card is as Sonde writes it.
    using Example = std::function<QStringList(const context::LabelRules&)>;

    LabelsDialog(context::LabelRules rules, Example example, QWidget* parent = nullptr);

    const context::LabelRules& rules() const { return m_rules; }

  Q_SIGNALS:
    /// OK or Apply.
    void chosen(const sonde::context::LabelRules& rules);

  private:
    void fillList(int current);
    void showRule();
    void takeRule();
    void showExample();

    context::LabelRules m_rules;
    Example m_example;
    QComboBox* m_presets;
    QListWidget* m_list;
    QLineEdit* m_operators;
    QPlainTextEdit* m_lines;
    QLabel* m_exampleText;
    QLabel* m_problem;
    bool m_filling = false;
};

}  // namespace sonde::dialogs
