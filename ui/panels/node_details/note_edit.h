#pragma once

#include <QPlainTextEdit>

#include "ui/context/notes.h"

namespace sonde::panels {

/// What is written on a node: as high as its text, up to a few lines. Stored while it is typed, and when the focus
/// leaves. Undo goes back as far as the node was shown.
class NoteEdit : public QPlainTextEdit {
    Q_OBJECT
  public:
    explicit NoteEdit(context::Notes& notes, QWidget* parent = nullptr);

    /// None: there is nothing to write on, and it is hidden.
    void setNode(graph::NodeId node);

  Q_SIGNALS:
    /// Escape: to where the focus was before.
    void left();

  protected:
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void take();
    void fitHeight();

    context::Notes& m_notes;
    graph::NodeId m_node;
    bool m_isTaking = false;  ///< what is stored comes in: no typing
};

}  // namespace sonde::panels
