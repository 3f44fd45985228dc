//! The conversation with an editor.

use super::{
    actions, completion,
    diagnostics::{self, with_text},
    documents::{Asked, Documents},
    hover, navigation,
    positions::Encoding,
    signature, symbols, tokens,
};
use crate::{
    format::{Symbols, formatted},
    front::source::Span,
};
use ls_types::{
    CodeActionProviderCapability, CompletionOptions, CompletionResponse, DocumentSymbolResponse,
    FoldingRangeProviderCapability, GotoDefinitionResponse, HoverProviderCapability,
    InitializeParams, OneOf, PublishDiagnosticsParams, RenameOptions, SemanticTokensFullOptions,
    SemanticTokensOptions, SemanticTokensResult, ServerCapabilities, SignatureHelpOptions,
    TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit,
    notification::{self, Notification as _},
    request::{self, Request as _},
};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::PathBuf, time::Duration};

/// How long the editor must be quiet before messages are sent.
const QUIET: Duration = Duration::from_millis(100);

/// Serves an editor on standard input and output until it says that it is done.
///
/// # Errors
/// The editor does not follow the protocol.
pub fn serve() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let served = answer(&connection);
    drop(connection);
    threads.join().map_err(|error| error.to_string())?;
    served
}

/// Answers the messages of an editor until it says that it is done.
///
/// # Errors
/// The editor does not follow the protocol.
pub fn answer(connection: &Connection) -> Result<(), String> {
    let (id, parameters) = connection.initialize_start().map_err(|e| e.to_string())?;
    let parameters: InitializeParams =
        serde_json::from_value(parameters).map_err(|e| e.to_string())?;
    let general = parameters.capabilities.general;
    let offered = general.and_then(|general| general.position_encodings);
    let encoding = Encoding::of_client(offered.as_deref());
    // No capability of the protocol tells this.
    let options = parameters.initialization_options.unwrap_or_default();
    let shows_latex = options["latex"].as_bool().unwrap_or(false);
    let about = json!({
        "capabilities": capabilities(encoding),
        "serverInfo": { "name": "diderotc", "version": env!("CARGO_PKG_VERSION") },
    });
    connection
        .initialize_finish(id, about)
        .map_err(|e| e.to_string())?;
    let mut server = Server {
        connection,
        documents: Documents::new(encoding, shows_latex),
        published: BTreeSet::new(),
        is_changed: false,
    };
    server.listen()
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["\\".to_owned()]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: tokens::legend(),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        document_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

struct Server<'c> {
    connection: &'c Connection,
    documents: Documents,
    /// The files with messages that the editor shows.
    published: BTreeSet<PathBuf>,
    /// Whether a text has changed since messages were sent.
    is_changed: bool,
}

impl Server<'_> {
    fn listen(&mut self) -> Result<(), String> {
        loop {
            let message = match self.is_changed {
                true => match self.connection.receiver.recv_timeout(QUIET) {
                    Ok(message) => message,
                    Err(error) if error.is_timeout() => {
                        self.publish();
                        continue;
                    }
                    Err(_) => return Ok(()),
                },
                false => match self.connection.receiver.recv() {
                    Ok(message) => message,
                    Err(_) => return Ok(()),
                },
            };
            match message {
                Message::Request(request) => {
                    let ends = self.connection.handle_shutdown(&request);
                    if ends.map_err(|error| error.to_string())? {
                        return Ok(());
                    }
                    let response = self.respond(request);
                    self.send(response.into());
                }
                Message::Notification(notification) => self.notice(notification),
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: Message) {
        // An editor that is gone needs no answer.
        let _ = self.connection.sender.send(message);
    }

    fn notice(&mut self, notification: Notification) {
        let method = notification.method.as_str();
        let parameters = notification.params;
        match method {
            notification::DidOpenTextDocument::METHOD => {
                let opened = read::<notification::DidOpenTextDocument>(parameters);
                if let Some(opened) = opened {
                    let document = opened.text_document;
                    self.documents.open(document.uri, document.text);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                let changed = read::<notification::DidChangeTextDocument>(parameters);
                if let Some(changed) = changed {
                    let uri = &changed.text_document.uri;
                    self.documents.change(uri, changed.content_changes);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(closed) = read::<notification::DidCloseTextDocument>(parameters) {
                    self.documents.close(&closed.text_document.uri);
                }
            }
            notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD => self.documents.forget(),
            _ => return,
        }
        self.is_changed = true;
    }

    /// Sends the messages about all files, and empties those of files that have none any more.
    fn publish(&mut self) {
        self.is_changed = false;
        let found = diagnostics::all(&mut self.documents);
        let files: BTreeSet<PathBuf> = found.keys().cloned().collect();
        let gone = self.published.difference(&files).cloned();
        let gone = gone.map(|path| (path, Vec::new())).collect::<Vec<_>>();
        for (path, diagnostics) in found.into_iter().chain(gone) {
            let Some(uri) = self.documents.uri(&path) else {
                continue;
            };
            let parameters = PublishDiagnosticsParams::new(uri, diagnostics, None);
            let method = notification::PublishDiagnostics::METHOD.to_owned();
            self.send(Notification::new(method, parameters).into());
        }
        self.published = files;
    }

    fn respond(&mut self, request: Request) -> Response {
        let id = request.id;
        let found = self.result(&request.method, request.params);
        match found {
            Ok(Some(result)) => Response::new_ok(id, result),
            Ok(None) => Response::new_ok(id, Value::Null),
            Err(message) => Response::new_err(id, ErrorCode::RequestFailed as i32, message),
        }
    }

    /// The result of a request; nothing where there is nothing to say.
    fn result(&mut self, method: &str, parameters: Value) -> Result<Option<Value>, String> {
        let found = match method {
            request::HoverRequest::METHOD => {
                let asked = self
                    .at::<request::HoverRequest>(parameters, |p| p.text_document_position_params);
                value(asked.and_then(|asked| hover::hover(&self.documents, &asked)))
            }
            request::Completion::METHOD => {
                let asked =
                    self.at::<request::Completion>(parameters, |p| p.text_document_position);
                let items =
                    asked.and_then(|asked| completion::completions(&self.documents, &asked));
                value(items.map(CompletionResponse::Array))
            }
            request::SignatureHelpRequest::METHOD => {
                let asked = self.at::<request::SignatureHelpRequest>(parameters, |p| {
                    p.text_document_position_params
                });
                value(asked.and_then(|asked| signature::signature(&self.documents, &asked)))
            }
            request::GotoDefinition::METHOD => {
                let asked = self
                    .at::<request::GotoDefinition>(parameters, |p| p.text_document_position_params);
                let found = asked.and_then(|asked| navigation::definition(&self.documents, &asked));
                value(found.map(GotoDefinitionResponse::Scalar))
            }
            request::References::METHOD => {
                let Some(given) = read_request::<request::References>(parameters) else {
                    return Ok(None);
                };
                let asked = self.place(&given.text_document_position);
                let with_definition = given.context.include_declaration;
                value(asked.and_then(|asked| {
                    navigation::references(&self.documents, &asked, with_definition)
                }))
            }
            request::DocumentHighlightRequest::METHOD => {
                let asked = self.at::<request::DocumentHighlightRequest>(parameters, |p| {
                    p.text_document_position_params
                });
                value(asked.and_then(|asked| navigation::highlights(&self.documents, &asked)))
            }
            request::PrepareRenameRequest::METHOD => {
                let asked = self.at::<request::PrepareRenameRequest>(parameters, |p| p);
                value(asked.and_then(|asked| navigation::prepare_rename(&self.documents, &asked)))
            }
            request::Rename::METHOD => {
                let Some(given) = read_request::<request::Rename>(parameters) else {
                    return Ok(None);
                };
                let asked = self.place(&given.text_document_position);
                let asked = asked.ok_or("there is nothing here that can have another name")?;
                let edit = navigation::rename(&self.documents, &asked, &given.new_name)?;
                value(Some(edit))
            }
            request::CodeActionRequest::METHOD => {
                let Some(given) = read_request::<request::CodeActionRequest>(parameters) else {
                    return Ok(None);
                };
                let path = Documents::path(&given.text_document.uri);
                let place = with_text(&self.documents, &path, |_, text| {
                    let bytes = text.bytes(given.range);
                    Span::new(bytes.start, bytes.end)
                });
                let analysis = self.documents.best_analysis(&path);
                value(analysis.zip(place).map(|(analysis, place)| {
                    actions::actions(&self.documents, &analysis, &path, place)
                }))
            }
            request::DocumentSymbolRequest::METHOD => {
                let Some(given) = read_request::<request::DocumentSymbolRequest>(parameters) else {
                    return Ok(None);
                };
                let path = Documents::path(&given.text_document.uri);
                let analysis = self.documents.best_analysis(&path);
                let found = analysis
                    .and_then(|analysis| symbols::symbols(&self.documents, &analysis, &path));
                value(found.map(DocumentSymbolResponse::Nested))
            }
            request::FoldingRangeRequest::METHOD => {
                let Some(given) = read_request::<request::FoldingRangeRequest>(parameters) else {
                    return Ok(None);
                };
                let path = Documents::path(&given.text_document.uri);
                value(with_text(&self.documents, &path, |text, _| {
                    symbols::foldings(text)
                }))
            }
            request::SemanticTokensFullRequest::METHOD => {
                let Some(given) = read_request::<request::SemanticTokensFullRequest>(parameters)
                else {
                    return Ok(None);
                };
                let path = Documents::path(&given.text_document.uri);
                let analysis = self.documents.best_analysis(&path);
                let found = analysis.and_then(|analysis| {
                    with_text(&self.documents, &path, |_, text| {
                        tokens::tokens(&analysis, &path, text)
                    })
                });
                value(found.map(SemanticTokensResult::Tokens))
            }
            request::Formatting::METHOD => {
                let Some(given) = read_request::<request::Formatting>(parameters) else {
                    return Ok(None);
                };
                let path = Documents::path(&given.text_document.uri);
                let edit = with_text(&self.documents, &path, |text, lines| {
                    let made = formatted(&path, text, Symbols::AsWritten).ok()?;
                    let whole = lines.range(Span::new(0, text.len()));
                    (made != text).then(|| vec![TextEdit::new(whole, made)])
                });
                value(edit.flatten())
            }
            request::InlayHintRequest::METHOD => {
                let Some(given) = read_request::<request::InlayHintRequest>(parameters) else {
                    return Ok(None);
                };
                let path = Documents::path(&given.text_document.uri);
                let analysis = self.documents.best_analysis(&path);
                value(analysis.and_then(|analysis| {
                    with_text(&self.documents, &path, |_, text| {
                        symbols::inlay_hints(&analysis, &path, text)
                    })
                }))
            }
            other => return Err(format!("the request `{other}` is not known")),
        };
        Ok(found)
    }

    /// The place that a request is about.
    fn at<R: request::Request>(
        &mut self,
        parameters: Value,
        place: impl FnOnce(R::Params) -> TextDocumentPositionParams,
    ) -> Option<Asked>
    where
        R::Params: DeserializeOwned,
    {
        let given = read_request::<R>(parameters)?;
        self.place(&place(given))
    }

    fn place(&mut self, given: &TextDocumentPositionParams) -> Option<Asked> {
        self.documents
            .asked(&given.text_document.uri, given.position)
    }
}

fn value<T: serde::Serialize>(found: Option<T>) -> Option<Value> {
    serde_json::to_value(found?).ok()
}

fn read<N: notification::Notification>(parameters: Value) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    serde_json::from_value(parameters).ok()
}

fn read_request<R: request::Request>(parameters: Value) -> Option<R::Params>
where
    R::Params: DeserializeOwned,
{
    serde_json::from_value(parameters).ok()
}
